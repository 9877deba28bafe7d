package io.penstock.cli;

import io.penstock.cli.config.Host;
import io.penstock.cli.state.RunningMount;
import io.penstock.fuse.MountTable;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

@Command(
        name = "mounts",
        description = {
            "Lists the mounts of Penstock on this machine, the backlog of each, and whether the names of the"
                    + " whole bucket are known.",
            "",
            "A mount whose process has died is shown as DEAD: programs get \"Transport endpoint is not"
                    + " connected\" there, until it is removed with penstock umount. A process that only uploads is"
                    + " shown as (unmounted)."
        })
final class MountsCommand implements Callable<Integer> {
    private static final List<String> HEADINGS =
            List.of("BUCKET", "MOUNT POINT", "PID", "SINCE", "TO UPLOAD", "NAMES", "CACHE", "LOG", "BINDING", "HOW");
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm").withZone(ZoneId.systemDefault());

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        List<MountTable.Entry> table = MountTable.read().entries();
        RunningMount.forgetEnded(Host.current(), table);
        List<List<String>> rows = rows(table, RunningMount.list(Host.current()));
        if (rows.isEmpty()) {
            out.println("Penstock has nothing mounted.");
        } else {
            out.print(table(rows));
            out.flush();
        }
        return ExitCode.DONE;
    }

    /** The kernel lists the mounts, the state files add the details. */
    static List<List<String>> rows(List<MountTable.Entry> table, List<RunningMount> running) {
        Map<Path, RunningMount> byMountPoint = new TreeMap<>();
        running.stream()
                .filter(each -> !each.unmounted())
                .forEach(each -> byMountPoint.merge(
                        each.mountPoint(), each, (one, other) -> one.since().isAfter(other.since()) ? one : other));
        List<List<String>> rows = new ArrayList<>();
        for (MountTable.Entry entry : table) {
            if (RunningMount.isPenstock(entry)) {
                rows.add(row(entry, byMountPoint.get(entry.mountPoint())));
            }
        }
        for (RunningMount process : running) {
            if (process.unmounted() && process.isAlive()) {
                rows.add(row(process.source(), "(unmounted)", process));
            }
        }
        return rows;
    }

    private static List<String> row(MountTable.Entry entry, @Nullable RunningMount running) {
        if (running == null) {
            // It belongs to another user, whose state files are unreadable, or to a process that was killed before it
            // wrote one.
            return List.of(entry.source(), entry.mountPoint().toString(), "?", "?", "?", "?", "?", "?", "?", "");
        }
        return row(entry.source(), entry.mountPoint().toString(), running);
    }

    private static List<String> row(String source, String mountPoint, RunningMount running) {
        boolean alive = running.isAlive();
        return List.of(
                source,
                mountPoint,
                alive ? Long.toString(running.pid()) : "DEAD",
                TIME.format(running.since()),
                (running.backlog().isEmpty() ? "nothing" : running.backlog())
                        + (running.failed() == 0 ? "" : "; failed: " + running.failed() + ", see penstock recover"),
                running.names().isEmpty() ? "by folder" : running.names(),
                running.cache().toString(),
                running.log().toString(),
                running.binding(),
                running.description());
    }

    static String table(List<List<String>> rows) {
        List<List<String>> lines = new ArrayList<>(rows);
        lines.addFirst(HEADINGS);
        StringBuilder table = new StringBuilder();
        for (List<String> line : lines) {
            StringBuilder text = new StringBuilder();
            for (int column = 0; column < line.size(); column++) {
                int at = column;
                int width = lines.stream()
                        .mapToInt(each -> each.get(at).length())
                        .max()
                        .orElse(0);
                text.append(line.get(column))
                        .repeat(' ', width - line.get(column).length() + 2);
            }
            table.append(text.toString().stripTrailing()).append('\n');
        }
        return table.toString();
    }
}
