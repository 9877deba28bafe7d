package io.penstock.writeback;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** One commit of a file, for JFR. Costs nothing without a recording. */
@Name("penstock.Commit")
@Label("Commit")
@Description(
        "A written file becomes visible in the bucket: missing parts, then the request that decides, with its attempts")
@Category("Penstock")
@StackTrace(false)
final class CommitEvent extends Event {
    @Label("Key")
    String key = "";

    @Label("Bytes")
    @DataAmount
    long bytes;

    @Label("Cause")
    @Description("awaited (a program waits for it) or background")
    String cause = "";

    @Label("Failure")
    @Description("Empty if it is visible")
    String failure = "";
}
