package io.penstock.benchmarks;

import java.util.List;

/**
 * A line of the report: something that a mount does, and what it is compared with.
 *
 * @param name under which it is measured, as the report shows it
 * @param ceilings the first is the one whose ratio counts; none where there is nothing to compare with
 */
record Row(String name, List<Ceiling> ceilings) {
    Row {
        ceilings = List.copyOf(ceilings);
    }

    Row(String name, Ceiling... ceilings) {
        this(name, List.of(ceilings));
    }

    /**
     * What the same bytes could be moved at without a mount, or with a simpler one.
     *
     * @param names measurements, the fastest of which counts
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
