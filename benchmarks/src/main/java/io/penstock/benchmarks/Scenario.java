package io.penstock.benchmarks;

import java.util.List;

/**
 * Rows that are measured together, with their ceilings.
 *
 * @param rows its rows in the report
 * @param prepare called once, before anything is measured or removed
 * @param round measures each row and each ceiling once
 * @param <R> the rig that measures them
 */
record Scenario<R>(List<ReportRow> rows, Step<R> prepare, Step<R> round) {
    /** A part of the work. */
    @FunctionalInterface
    interface Step<R> {
        void run(R rig) throws Exception;
    }

    Scenario(List<ReportRow> rows, Step<R> round) {
        this(rows, _ -> {}, round);
    }
}
