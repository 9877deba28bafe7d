package io.penstock.benchmarks;

import java.util.List;

/** Rows of nodes that share their caches, measured together with their ceilings. */
interface ShareScenario {
    /** Its rows in the report. */
    List<ReportRow> rows();

    /** Measures each row and each ceiling once. */
    void round(ShareRig rig) throws Exception;
}
