package io.penstock.benchmarks;

import java.util.List;

/** Rows of names that are measured together, with their ceilings. */
interface TreeScenario {
    /** Its rows in the report. */
    List<ReportRow> rows();

    /** Measures each row and each ceiling once. */
    void round(TreeRig rig) throws Exception;
}
