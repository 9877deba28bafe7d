package io.penstock.benchmarks;

import java.util.List;

/**
 * Rows that are measured together, with their ceilings.
 *
 * @param <R> the rig that measures them
 */
interface Scenario<R> {
    /** Its rows in the report. */
    List<ReportRow> rows();

    /** Called once, before anything is measured or removed. */
    default void prepare(R rig) throws Exception {}

    /** Measures each row and each ceiling once. */
    void round(R rig) throws Exception;
}
