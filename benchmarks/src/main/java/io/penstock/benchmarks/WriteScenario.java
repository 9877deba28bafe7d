package io.penstock.benchmarks;

import java.util.List;

/** Rows of writing that are measured together, with their ceilings. */
interface WriteScenario {
    /** Its rows in the report. */
    List<ReportRow> rows();

    /** Called once, before anything is measured or removed. */
    default void prepare(WriteRig rig) throws Exception {}

    /** Measures each row and each ceiling once. */
    void round(WriteRig rig) throws Exception;
}
