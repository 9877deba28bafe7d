package io.penstock.tools.bench;

import io.penstock.serve.control.Json;
import io.penstock.settings.ByteSizes;
import io.penstock.tools.measure.Text;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Shows each row as soon as it is measured, or everything at the end as JSON. Confined to one thread. */
public final class Output {
    private static final int WIDTH = 80;

    private final PrintWriter out;
    private final PrintWriter err;
    private final Form form;
    private final List<Diagnosed> diagnosed = new ArrayList<>();

    /** The format of the output. */
    public enum Form {
        /** Lines, for a file. */
        LINES,
        /** Lines, and the step being measured. */
        TERMINAL,
        JSON
    }

    /** A row and the diagnosis on it. */
    private record Diagnosed(Row row, String diagnosis) {}

    /** @param err receives the warnings */
    public Output(PrintWriter out, PrintWriter err, Form form) {
        this.out = out;
        this.err = err;
        this.form = form;
    }

    void begin(Workload workload) {
        print("A large file of up to %s, and up to %d small files of %s, with %d threads%n"
                .formatted(
                        ByteSizes.about(workload.largeBytes()),
                        workload.smallFiles(),
                        ByteSizes.about(workload.smallBytes()),
                        workload.threads()));
    }

    void begin(Location location) {
        print(location.title() + "\n");
        if (!location.note().isEmpty()) {
            note(location.note());
        }
    }

    void begin(Step step) {
        if (form == Form.TERMINAL) {
            print("  " + step.label() + " ...");
        }
    }

    void row(Row row) {
        print((form == Form.TERMINAL ? "\r" : "") + line(row) + "\n");
    }

    /** Announces something that takes a while before there are results to show. */
    void await(String what) {
        if (form == Form.TERMINAL) {
            print(what + " ...\r");
        }
    }

    /** A remark on the rows of a location. */
    void note(String text) {
        print("  " + text + "\n");
    }

    void diagnosis(Row row, String text) {
        diagnosed.add(new Diagnosed(row, text));
    }

    void warning(String text) {
        err.println((form == Form.TERMINAL ? "\n" : "") + "penstock: " + text);
        err.flush();
    }

    private void print(String text) {
        if (form != Form.JSON) {
            out.print(text);
            out.flush();
        }
    }

    /** A line of at most {@link #WIDTH} columns. */
    static String line(Row row) {
        Row ceiling = row.ceiling();
        return "  %-31s %8s %-8s%s"
                .formatted(
                        row.step().label(),
                        number(row.rate()),
                        row.step().unit(),
                        ceiling == null
                                ? ""
                                : "%4d%% of the %s's %s"
                                        .formatted(
                                                Math.round(100 * row.ratio()),
                                                ceiling.location().kind().name().toLowerCase(Locale.ROOT),
                                                number(ceiling.rate())))
                .stripTrailing();
    }

    /** Three digits, or more if there are more before the decimal point. */
    private static String number(double rate) {
        return String.format(Locale.ROOT, rate < 10 ? "%.2f" : rate < 100 ? "%.1f" : "%.0f", rate);
    }

    /** Shows the diagnoses, or everything as JSON. */
    void end(Results results, Workload workload) {
        if (form == Form.JSON) {
            out.println(json(results, workload));
        } else {
            out.println();
            diagnosed.forEach(each -> out.print(Text.wrap(WIDTH, "→ ", "  ", each.diagnosis())));
            if (diagnosed.isEmpty()) {
                out.println("Nothing needs attention.");
            }
        }
        out.flush();
    }

    private String json(Results results, Workload workload) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("largeBytes", workload.largeBytes());
        all.put("smallFiles", workload.smallFiles());
        all.put("smallBytes", workload.smallBytes());
        all.put("threads", workload.threads());
        all.put("rows", results.rows().stream().map(this::fields).toList());
        return Json.indented(all);
    }

    private Map<String, Object> fields(Row row) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("of", row.location().kind().name().toLowerCase(Locale.ROOT));
        fields.put("place", row.location().name());
        fields.put("step", row.step().jsonName());
        fields.put("rate", row.rate());
        fields.put("unit", row.step().unit());
        Row ceiling = row.ceiling();
        if (ceiling != null) {
            fields.put("ceiling", ceiling.step().jsonName());
            fields.put("ratio", row.ratio());
        }
        diagnosed.stream()
                .filter(each -> each.row().equals(row))
                .forEach(each -> fields.put("judgement", each.diagnosis()));
        return fields;
    }
}
