package io.penstock.benchmarks;

import java.util.List;

/** Rows of operations on names that are measured together, with their ceilings. */
interface NamesScenario {
    /** Its rows in the report. */
    List<ReportRow> rows();

    /** Measures each row and each ceiling once. */
    void round(NamesRig rig) throws Exception;
}
