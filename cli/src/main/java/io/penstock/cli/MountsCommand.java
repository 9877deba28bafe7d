package io.penstock.cli;

import io.penstock.core.Printable;
import io.penstock.fuse.MountTable;
import io.penstock.serve.control.Json;
import io.penstock.serve.state.RunningMount;
import io.penstock.settings.Host;
import io.penstock.tools.measure.Text;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
        name = "mounts",
        description = {
            "Lists the Penstock mounts on this machine, the backlog of each, and whether all names of the bucket"
                    + " are known.",
            "",
            "A mount whose process has died is shown as DEAD: programs get \"Transport endpoint is not"
                    + " connected\" there, until it is removed with penstock umount. A process that only finishes"
                    + " uploads is shown as (unmounted); one whose mount is no longer attached to a folder, as after"
                    + " umount -l of a mount in use, as (detached)."
        })
final class MountsCommand implements Callable<Integer> {
    private static final List<String> HEADINGS = List.of("BUCKET", "MOUNT POINT", "PID", "SINCE", "TO UPLOAD");
    private static final int WIDTH = 100;

    /** The width of the widest column; the line of a longer text continues below. */
    private static final int WIDEST = 30;

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm").withZone(ZoneId.systemDefault());

    @Spec
    private CommandSpec spec;

    @Option(names = "--json", description = "Print a JSON array for other programs.")
    private boolean json;

    /**
     * A mount, or a process whose mount is not in the table: it was detached while in use, or it only uploads.
     *
     * @param isInTable whether the mount is in the kernel's table
     * @param running null if another user runs it, whose state files are unreadable, or if its process was killed
     *     before it wrote one
     */
    record Row(
            String source,
            Path mountPoint,
            boolean isInTable,
            @Nullable RunningMount running) {
        private String state() {
            if (running == null) {
                return "unknown";
            } else if (!running.isAlive()) {
                return "dead";
            } else if (running.unmounted()) {
                return "unmounted";
            }
            return isInTable ? "serving" : "detached";
        }

        private Map<String, Object> json() {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("source", source);
            fields.put("mountPoint", mountPoint.toString());
            fields.put("state", state());
            if (running != null) {
                fields.put("pid", running.pid());
                fields.put("since", running.since().toString());
                fields.put("toUpload", running.backlog());
                fields.put("filesToUpload", running.filesToUpload());
                fields.put("bytesToUpload", running.bytesToUpload());
                fields.put("failed", running.failed());
                fields.put("names", running.names());
                fields.put("cache", running.cache().toString());
                fields.put("cacheFault", running.cacheFault());
                fields.put("log", running.log().toString());
                fields.put("binding", running.binding());
                fields.put("how", running.description());
            }
            return fields;
        }
    }

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        List<RunningMount> running = RunningMount.list(Host.current()); // first: new mounts are in the table by then
        List<MountTable.Entry> table = MountTable.read().entries();
        RunningMount.forgetEnded(Host.current(), table);
        List<RunningMount> later = RunningMount.list(Host.current());
        List<Row> rows = rows(
                table,
                running,
                process -> later.stream()
                        .filter(each -> each.pid() == process.pid() && each.started() == process.started())
                        .findFirst());
        if (json) {
            out.println(json(rows));
        } else if (rows.isEmpty()) {
            out.println("No Penstock mounts.");
        } else {
            out.print(table(rows));
            out.flush();
        }
        return ExitCode.DONE;
    }

    /**
     * The kernel lists the mounts; the state files add details.
     *
     * @param running read before the table
     * @param later the current state of a process: if it is not in the table, it may have been unmounted, and may have
     *     ended
     */
    static List<Row> rows(
            List<MountTable.Entry> table,
            List<RunningMount> running,
            Function<RunningMount, Optional<RunningMount>> later) {
        Map<Path, RunningMount> byMountPoint = new TreeMap<>();
        running.stream()
                .filter(each -> !each.unmounted())
                .forEach(each -> byMountPoint.merge(
                        each.mountPoint(), each, (one, other) -> one.since().isAfter(other.since()) ? one : other));
        List<Row> rows = new ArrayList<>();
        Set<RunningMount> shown = new HashSet<>();
        for (MountTable.Entry entry : table) {
            if (RunningMount.isPenstock(entry)) {
                RunningMount serving = byMountPoint.get(entry.mountPoint());
                rows.add(new Row(entry.source(), entry.mountPoint(), true, serving));
                if (serving != null) {
                    shown.add(serving);
                }
            }
        }
        for (RunningMount process : running) {
            if (!shown.contains(process)) {
                later.apply(process)
                        .filter(RunningMount::isAlive)
                        .ifPresent(now -> rows.add(new Row(now.source(), now.mountPoint(), false, now)));
            }
        }
        return rows;
    }

    static String json(List<Row> rows) {
        return Json.line(rows.stream().map(Row::json).toList());
    }

    private static List<String> line(Row row) {
        RunningMount running = row.running();
        String mountPoint = row.mountPoint().toString();
        if (running == null) {
            return List.of(row.source(), mountPoint, "?", "?", "?");
        }
        boolean alive = running.isAlive();
        return List.of(
                row.source(),
                running.unmounted() ? "(unmounted)" : alive && !row.isInTable() ? "(detached)" : mountPoint,
                alive ? Long.toString(running.pid()) : "DEAD",
                TIME.format(running.since()),
                running.backlog().isEmpty() ? "nothing" : running.backlog());
    }

    /** The lines below a mount's own, the faults first. */
    private static List<String> details(@Nullable RunningMount running) {
        if (running == null) {
            return List.of();
        }
        String log = running.log().toString();
        return Stream.of(
                        running.failed() == 0
                                ? ""
                                : "failed uploads: " + running.failed() + "; see " + running.recovery(),
                        running.cacheFault().isEmpty() ? "" : "nothing is cached: " + running.cacheFault(),
                        running.names().isEmpty() ? "" : "names: " + running.names(),
                        "cache: " + running.cache(),
                        "log: " + (log.isEmpty() ? "terminal" : log),
                        "binding: " + running.binding() + ": " + running.description())
                .filter(text -> !text.isEmpty())
                .toList();
    }

    static String table(List<Row> rows) {
        List<List<String>> lines = new ArrayList<>(rows.stream()
                .map(row -> line(row).stream().map(Printable::text).toList())
                .toList());
        lines.addFirst(HEADINGS);
        StringBuilder table = new StringBuilder();
        for (int number = 0; number < lines.size(); number++) {
            StringBuilder text = new StringBuilder();
            for (int column = 0; column < HEADINGS.size(); column++) {
                int at = column;
                int width = lines.stream()
                        .mapToInt(each -> Math.min(WIDEST, each.get(at).length()))
                        .max()
                        .orElse(0);
                String cell = lines.get(number).get(column);
                text.append(cell).repeat(' ', Math.max(0, width - cell.length()) + 2);
            }
            String line = text.toString().stripTrailing();
            table.append(line.length() <= WIDTH ? line + "\n" : Text.wrap(WIDTH, "", "    ", line));
            if (number > 0) {
                details(rows.get(number - 1).running())
                        .forEach(detail -> table.append(Text.wrap(WIDTH, "  ", "    ", detail)));
            }
        }
        return table.toString();
    }
}
