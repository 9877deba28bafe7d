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
    private final List<Judged> judged = new ArrayList<>();

    /** The format of the output. */
    public enum Form {
        /** Lines, for a file. */
        LINES,
        /** Lines, and the step being measured. */
        TERMINAL,
        JSON
    }

    /** A row and the judgement on it. */
    private record Judged(Row row, String judgement) {}

    /** @param err receives the warnings */
    public Output(PrintWriter out, PrintWriter err, Form form) {
        this.out = out;
        this.err = err;
        this.form = form;
    }

    void begin(Amounts amounts) {
        print("A large file of up to %s, and up to %d small files of %s, with %d threads%n"
                .formatted(
                        ByteSizes.about(amounts.largeBytes()),
                        amounts.smallFiles(),
                        ByteSizes.about(amounts.smallBytes()),
                        amounts.threads()));
    }

    void begin(Place place) {
        print(place.title() + "\n");
        if (!place.note().isEmpty()) {
            note(place.note());
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

    /** A remark on the rows of a place. */
    void note(String text) {
        print("  " + text + "\n");
    }

    void judgement(Row row, String text) {
        judged.add(new Judged(row, text));
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
                                                ceiling.place().kind().name().toLowerCase(Locale.ROOT),
                                                number(ceiling.rate())))
                .stripTrailing();
    }

    /** Three digits, or more if there are more before the decimal point. */
    private static String number(double rate) {
        return String.format(Locale.ROOT, rate < 10 ? "%.2f" : rate < 100 ? "%.1f" : "%.0f", rate);
    }

    /** Shows the judgements, or everything as JSON. */
    void end(Results results, Amounts amounts) {
        if (form == Form.JSON) {
            out.println(json(results, amounts));
        } else {
            out.println();
            judged.forEach(each -> out.print(Text.wrap(WIDTH, "→ ", "  ", each.judgement())));
            if (judged.isEmpty()) {
                out.println("Nothing needs attention.");
            }
        }
        out.flush();
    }

    private String json(Results results, Amounts amounts) {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("largeBytes", amounts.largeBytes());
        all.put("smallFiles", amounts.smallFiles());
        all.put("smallBytes", amounts.smallBytes());
        all.put("threads", amounts.threads());
        all.put("rows", results.rows().stream().map(this::fields).toList());
        return Json.indented(all);
    }

    private Map<String, Object> fields(Row row) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("of", row.place().kind().name().toLowerCase(Locale.ROOT));
        fields.put("place", row.place().name());
        fields.put("step", row.step().jsonName());
        fields.put("rate", row.rate());
        fields.put("unit", row.step().unit());
        Row ceiling = row.ceiling();
        if (ceiling != null) {
            fields.put("ceiling", ceiling.step().jsonName());
            fields.put("ratio", row.ratio());
        }
        judged.stream()
                .filter(each -> each.row().equals(row))
                .forEach(each -> fields.put("judgement", each.judgement()));
        return fields;
    }
}
