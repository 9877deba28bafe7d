package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.settings.Durations;
import io.penstock.settings.process.RefusedException;
import java.io.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "stats",
        description = {
            "Shows the activity of a mount until q or Ctrl-C: the sources of reads, bytes fetched and uploaded,"
                    + " memory and disk usage, call latencies, and cost. If the output is not a terminal, or is a"
                    + " terminal that cannot rewrite lines ($TERM), prints a line each second.",
            "",
            "Reads that the kernel answers, from its page cache or from cached files that it reads itself"
                    + " (passthrough), do not reach the mount and are not counted. docs/OPERATIONS.md explains the"
                    + " columns."
        })
final class StatsCommand implements Callable<Integer> {
    private static final Duration SHORTEST = Duration.ofMillis(100);

    /** The longest wait for the first screen. */
    private static final Duration FIRST = Duration.ofSeconds(1);

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = ServingMount.LABEL, arity = "0..1", description = ServingMount.DESCRIPTION)
    private @Nullable String mountPoint;

    @Option(names = "--once", description = "Print the totals since the mount began, and exit.")
    private boolean once;

    @Option(names = "--lines", description = "Print lines even on a terminal, instead of a live screen.")
    private boolean lines;

    @Option(names = "--json", description = "Print one JSON object per line with the totals, for other programs.")
    private boolean json;

    @Option(
            names = "--interval",
            paramLabel = "<time>",
            defaultValue = "1s",
            description = "Time between two lines, such as 500ms or 10s. Default: ${DEFAULT-VALUE}.")
    private String interval;

    @Override
    public Integer call() throws IOException, RefusedException, InterruptedException {
        Duration pause = Durations.parse(interval);
        if (pause == null || pause.compareTo(SHORTEST) < 0) {
            throw new ParameterException(
                    spec.commandLine(), "--interval " + interval + ": must be a time such as 1s, of 100ms or more");
        }
        ServingMount mount = ServingMount.find(mountPoint);
        if (isTerminal() && isScreen(System.getenv("TERM")) && !once && !json && !lines) {
            watch(mount, pause);
        } else {
            print(mount, pause);
        }
        return ExitCode.DONE;
    }

    private static boolean isTerminal() {
        return Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
    }

    /** Whether a terminal of this kind, from $TERM, can change lines. */
    static boolean isScreen(@Nullable String kind) {
        return kind != null && !kind.isEmpty() && !kind.equals("dumb");
    }

    /** Runs until the user leaves. The first screen waits a moment: rates over a few milliseconds say nothing. */
    private static void watch(ServingMount mount, Duration pause) throws IOException, RefusedException {
        JsonNode before = statistics(mount);
        try (LiveTerminal terminal = new LiveTerminal()) {
            boolean left = terminal.isLeft(pause.compareTo(FIRST) < 0 ? pause : FIRST);
            while (!left) {
                JsonNode now = statistics(mount);
                terminal.show(new StatsScreen(before, now)::lines);
                before = now;
                left = terminal.isLeft(pause);
            }
        }
    }

    private static JsonNode statistics(ServingMount mount) throws IOException, RefusedException {
        return mount.ask("stats", Map.of());
    }

    /** Runs until Ctrl-C, or until the reader of the output is gone. */
    private void print(ServingMount mount, Duration pause) throws IOException, RefusedException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        StatsTable table = new StatsTable();
        JsonNode before = null;
        while (true) {
            JsonNode now = statistics(mount);
            if (json) {
                out.println(now);
            } else if (once) {
                out.print(StatsTable.totals(now));
            } else if (before != null) {
                out.print(table.line(before, now));
            }
            out.flush();
            boolean isRead = !System.out.checkError(); // the writer does not report it
            if (once || !isRead) {
                return;
            }
            before = now;
            Thread.sleep(pause);
        }
    }
}
