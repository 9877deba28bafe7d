package io.penstock.tools.doctor;

import io.penstock.serve.control.Json;
import io.penstock.tools.measure.Text;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Findings as text. */
public final class Report {
    /** Columns; longer text is wrapped. */
    private static final int WIDTH = 100;

    private static final String COLUMNS = "%-8s %-14s ";
    private static final String INDENT = COLUMNS.formatted("", "");

    private Report() {}

    /** The lines of one finding: severity, check and fault, then why it matters and the remedy. */
    public static String lines(Finding finding) {
        StringBuilder lines = new StringBuilder();
        lines.append(Text.wrap(WIDTH, COLUMNS.formatted(finding.severity(), finding.check()), INDENT, finding.found()));
        if (!finding.why().isEmpty()) {
            lines.append(Text.wrap(WIDTH, INDENT, INDENT, finding.why() + "."));
        }
        if (!finding.remedy().isEmpty()) {
            lines.append(Text.wrap(WIDTH, INDENT + "→ ", INDENT + "  ", finding.remedy()));
        }
        return lines.toString();
    }

    /** {@code 2 errors, 1 warning}, or that all is well. */
    public static String summary(List<Finding> findings) {
        long errors = count(findings, Finding.Severity.ERROR);
        long warnings = count(findings, Finding.Severity.WARNING);
        return errors + warnings == 0
                ? "No errors or warnings."
                : number(errors, "error") + ", " + number(warnings, "warning") + ".";
    }

    private static long count(List<Finding> findings, Finding.Severity severity) {
        return findings.stream()
                .filter(finding -> finding.severity() == severity)
                .count();
    }

    private static String number(long number, String what) {
        return number + " " + what + (number == 1 ? "" : "s");
    }

    /** An array of objects with {@code severity}, {@code check}, {@code found}, {@code why} and {@code remedy}. */
    public static String json(List<Finding> findings) {
        return Json.indented(findings.stream().map(Report::fields).toList());
    }

    private static Map<String, String> fields(Finding finding) {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("severity", finding.severity().toString());
        fields.put("check", finding.check());
        fields.put("found", finding.found());
        fields.put("why", finding.why());
        fields.put("remedy", finding.remedy());
        return fields;
    }
}
