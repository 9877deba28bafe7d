package io.penstock.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Formats how many accelerators were kept busy. */
final class TrainTable {
    private static final String HEAD = """
        | workload | data | accelerators kept | measured at | AU % | AU % required | steps | MiB/s | samples/s\
         | readers' cores | client's cores | kept by a core | beside |
        |---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|
        """;

    private final List<Line> lines = new ArrayList<>();

    /**
     * One line.
     *
     * @param data where the data came from
     * @param kept how many accelerators were kept busy; perhaps only one number was tried
     * @param run of the most accelerators that were kept busy, or else of the fewest that were tried
     * @param beside concurrent activity; empty if there was none
     */
    record Line(TrainWorkload workload, String data, TrainSearch kept, TrainRun run, String beside) {}

    void add(Line line) {
        lines.add(line);
    }

    String markdown() {
        StringBuilder text = new StringBuilder(HEAD);
        for (Line line : lines) {
            TrainRun run = line.run();
            text.append("| ")
                    .append(String.join(
                            " | ",
                            line.workload().label(),
                            line.data(),
                            (line.kept().limited() ? "≥ " : "") + line.kept().most(),
                            Integer.toString(run.accelerators()),
                            String.format(Locale.ROOT, "%.1f", run.utilisation().percent()),
                            Integer.toString(line.workload().model().requiredPercent()),
                            steps(line),
                            ReportTable.significant(run.mibPerSecond()),
                            ReportTable.significant(run.samplesPerSecond()),
                            ReportTable.significant(run.readerCores()),
                            ReportTable.optional(run.clientCores()),
                            line.kept().most() == 0 ? "0" : ReportTable.optional(run.perClientCore()),
                            line.beside()))
                    .append(" |\n");
        }
        return text.toString();
    }

    private static String steps(Line line) {
        int steps = line.run().utilisation().steps();
        return steps + (steps < TrainPlan.enough(line.workload().model()) ? " (few)" : "");
    }
}
