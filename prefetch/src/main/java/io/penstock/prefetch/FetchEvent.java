package io.penstock.prefetch;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** One GET, for JFR: costs nothing unless a recording runs. */
@Name("penstock.Fetch")
@Label("Fetch")
@Description("A GET of a range, from its slot to the last byte")
@Category("Penstock")
@StackTrace(false)
final class FetchEvent extends Event {
    @Label("Key")
    String key = "";

    @Label("Offset")
    @DataAmount
    long offset;

    @Label("Bytes")
    @DataAmount
    long bytes;

    @Label("Cause")
    @Description("demand or readahead")
    String cause = "";

    @Label("Complete")
    boolean complete;
}
