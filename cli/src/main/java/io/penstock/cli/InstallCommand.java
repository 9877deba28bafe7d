package io.penstock.cli;

import io.penstock.cli.config.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "install",
        description = {
            "Makes penstock and mount -t penstock work from anywhere, fstab included.",
            "",
            "Links /usr/local/bin/penstock and /sbin/mount.penstock to this folder; --remove takes the links away."
        })
final class InstallCommand implements Callable<Integer> {
    /** mount(8) looks for helpers in /sbin and nowhere else on most distributions. */
    private static final Map<String, String> LINKS =
            Map.of("/usr/local/bin/penstock", "bin/penstock", "/sbin/mount.penstock", "bin/mount.penstock");

    @Option(names = "--remove", description = "Take the links away.")
    private boolean remove;

    @Override
    public Integer call() throws RefusedException {
        if (!Host.current().isRoot()) {
            throw new RefusedException("only root can do this: sudo " + Launcher.command() + " install");
        }
        Path home = Launcher.home();
        if (home == null) {
            throw new RefusedException("start this by bin/penstock, which knows where Penstock is");
        }
        for (Map.Entry<String, String> entry : LINKS.entrySet()) {
            link(Path.of(entry.getKey()), home.resolve(entry.getValue()));
        }
        return ExitCode.DONE;
    }

    private void link(Path link, Path target) throws RefusedException {
        if (Files.exists(link, LinkOption.NOFOLLOW_LINKS) && !Files.isSymbolicLink(link)) {
            throw new RefusedException(link + " is there and no link: it is not of Penstock, and stays");
        }
        try {
            Files.deleteIfExists(link);
            if (!remove) {
                Files.createSymbolicLink(link, target);
            }
        } catch (IOException e) {
            throw new RefusedException(link + ": " + Reason.of(e));
        }
        System.out.println(remove ? "removed " + link : link + " -> " + target);
    }
}
