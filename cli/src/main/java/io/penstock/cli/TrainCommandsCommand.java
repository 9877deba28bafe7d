package io.penstock.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "train-commands",
        hidden = true,
        description = "Runs common commands about a mount in one JVM, which records them. Called by penstock train.")
final class TrainCommandsCommand implements Callable<Integer> {
    private static final List<List<String>> COMMANDS = List.of(
            List.of("mounts"),
            List.of("mounts", "--json"),
            List.of("stats", "{}", "--once"),
            List.of("stats", "{}", "--once", "--json"),
            List.of("why", "{}/large"),
            List.of("warm", "{}", "folder-0"),
            List.of("cache", "status", "{}", "folder-0"),
            List.of("evict", "{}", "folder-0"),
            List.of("set", "{}", "readahead.concurrency=32"),
            List.of("reload", "{}"),
            List.of("sync", "{}"),
            List.of("upgrade", "{}/not-mounted"),
            List.of("share", "status", "{}"),
            List.of("config", "show", "train"),
            List.of("umount", "{}/not-mounted"));

    @Parameters(paramLabel = "MOUNTPOINT")
    private Path mountPoint;

    /** Without a mount, the commands refuse, but their classes are loaded all the same. */
    @Override
    public Integer call() {
        for (List<String> command : COMMANDS) {
            Main.commandLine(command.getFirst())
                    .execute(command.stream()
                            .map(word -> word.replace("{}", mountPoint.toString()))
                            .toArray(String[]::new));
        }
        return ExitCode.DONE;
    }
}
