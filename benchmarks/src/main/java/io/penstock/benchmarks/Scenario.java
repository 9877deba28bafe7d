package io.penstock.benchmarks;

import java.util.List;

/** Rows that are measured together, with their ceilings. */
interface Scenario {
    /** Its rows in the report. */
    List<ReportRow> rows();

    /** Measures each row and each ceiling once. */
    void round(ReadRig rig) throws Exception;
}
