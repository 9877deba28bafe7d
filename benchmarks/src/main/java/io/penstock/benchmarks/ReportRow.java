package io.penstock.benchmarks;

import java.util.Arrays;
import java.util.List;

/**
 * A line of the report: one activity of a mount, and its ceilings.
 *
 * @param name of the measurement, as in the report
 * @param ceilings the ratio to the first one counts; empty if there is nothing to compare with
 */
record ReportRow(String name, List<Ceiling> ceilings) {
    ReportRow {
        ceilings = List.copyOf(ceilings);
    }

    static ReportRow of(String name, Ceiling first, Ceiling second) {
        return new ReportRow(name, List.of(first, second));
    }

    /** @param ceilings names of measurements */
    static ReportRow of(String name, String... ceilings) {
        return new ReportRow(name, Arrays.stream(ceilings).map(Ceiling::new).toList());
    }

    /**
     * The rate of the same work without a mount, or with a simpler one.
     *
     * @param names of measurements, of which the fastest counts
     */
    record Ceiling(List<String> names) {
        Ceiling {
            names = List.copyOf(names);
        }

        Ceiling(String name) {
            this(List.of(name));
        }

        boolean isBestOfSeveral() {
            return names.size() > 1;
        }
    }
}
