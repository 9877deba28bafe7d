package io.penstock.prefetch;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/** A read of cached or fetched content that took long, for JFR: costs nothing unless a recording runs. */
@Name("penstock.SlowRead")
@Label("Slow Read")
@Description("A read that took long, and what it waited for first")
@Category("Penstock")
@StackTrace(false)
@Threshold("10 ms")
final class SlowReadEvent extends Event {
    @Label("Key")
    String key = "";

    @Label("Offset")
    @DataAmount
    long offset;

    @Label("Bytes")
    @DataAmount
    long bytes;

    @Label("Cause")
    @Description("Of its first page: store (some of it was missing), in-flight (a fetch was on its way) or cache")
    String cause = "";

    static String cause(ReadSource source) {
        return switch (source) {
            case STORE, LIMITS -> "store";
            case IN_FLIGHT -> "in-flight";
            case MEMORY, NVME -> "cache";
        };
    }
}
