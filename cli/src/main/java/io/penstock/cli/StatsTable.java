package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.core.Printable;
import io.penstock.serve.control.Statistic;
import io.penstock.settings.ByteSizes;
import java.util.Map;
import java.util.stream.Collectors;

/** The statistics of a mount as text: a line of 80 columns per interval, with headings now and then; or all totals. */
final class StatsTable {
    /** Lines between two headings: few enough for headings to stay on the screen. */
    private static final int LINES = 20;

    private static final String HEADINGS = """
        ------ page reads a second ------ ------ store ------- --- writes --- - now -
         memory    nvme  waited  missed  GETs/s  MiB/s ahead% MiB/s  to send   nvme
        (not counted: reads by the kernel, by passthrough or from its page cache)
        """;

    private static final String READS = """
        page reads:  {PAGES}: {MEMORY_HITS of PAGES} from memory, {DISK_HITS of PAGES} from NVMe,\
         {WAITS of PAGES} waited for a fetch, {MISSES of PAGES} missed
        not counted: reads by the kernel, from its page cache and by passthrough
        bytes read:  {MEMORY_READ} from memory, {DISK_READ} from NVMe, {WAITED_READ} waited for a fetch
        waited:      {STORE_WAIT} s for the store, {DISK_WAIT} s for NVMe, {LIMIT_WAIT} s for limits,\
         summed over all readers
        fetched:     {FETCHED} in {DEMAND_GETS+READAHEAD_GETS} GETs, {READAHEAD_GETS} of them ahead;\
         {FAILED_GETS} failed, {CANCELLED_GETS} cancelled
        requests:    {GETS} GETs, {HEADS} HEADs, {LISTS} listings, {PUTS} PUTs, {DELETES} deletions;\
         {RETRIES} retries, {THROTTLED} throttled
        cost:        {REQUEST_COST} for requests, {TRANSFER_COST} for transfer; the cache saved about {SAVED_COST}:\
         {SAVED} in {SAVED_GETS} GETs
        read ahead:  {READAHEAD}, of which readers used {READAHEAD_USED of READAHEAD}
        cache:       {MEMORY_SIZE} in memory, {DISK_SIZE} on NVMe; {EVICTED} pages evicted, {DAMAGED} damaged,\
         {UNSTORED} not stored, {DISK_ERRORS} disk errors
        """;

    private static final String WRITES = """
        written:     {UPLOADED} uploaded, {COPIED} copied by the store; {DIRTY} in memory, {STAGED} staged;\
         {BACKLOG} of {BACKLOG_FILES} closed files to upload; {FAILED_FILES} files failed
        """;

    private int lines;

    /** The rates a second between the two responses; with headings when they are due. */
    String line(JsonNode before, JsonNode now) {
        StatsText text = new StatsText(before, now);
        boolean isWritten = now.path("writing").isObject();
        String line = "{MEMORY_HITS/s:7} {DISK_HITS/s:7} {WAITS/s:7} {MISSES/s:7} {DEMAND_GETS+READAHEAD_GETS/s:7}"
                + " %6s {READAHEAD_USED of READAHEAD/s:6} %5s %8s {DISK_SIZE:6}\n"
                        .formatted(
                                Figures.mib(text.rate(Statistic.FETCHED)),
                                isWritten ? Figures.mib(text.rate(Statistic.UPLOADED)) : "-",
                                isWritten ? text.fill("{BACKLOG}") : "-");
        boolean areHeadingsDue = lines++ % LINES == 0;
        return (areHeadingsDue ? HEADINGS : "") + text.fill(line);
    }

    /** All totals since the mount began. */
    static String totals(JsonNode all) {
        StatsText now = new StatsText(all, all);
        StringBuilder text = new StringBuilder();
        add(
                text,
                all.path("mountPoint").asText(),
                "%s, process %d, for %s s"
                        .formatted(all.path("source").asText(), all.path("pid").asLong(), now.fill("{UPTIME}")));
        text.append(now.fill(READS));
        text.append(all.path("writing").isObject() ? now.fill(WRITES) : "written:     mounted read-only\n");
        text.append(now.fill("in flight:   {CALLS_IN_FLIGHT} calls, {IN_FLIGHT} requests to the store\n"));
        add(
                text,
                "memory",
                all.path("memory").properties().stream()
                        .map(share -> ByteSizes.about(share.getValue().asLong()) + " for " + share.getKey())
                        .collect(Collectors.joining(", ")));
        for (JsonNode rename : all.path("renames")) {
            add(
                    text,
                    "renaming",
                    "%s to %s: %s, %d of %d objects"
                            .formatted(
                                    Printable.text(rename.path("from").asText()),
                                    Printable.text(rename.path("to").asText()),
                                    rename.path("step").asText(),
                                    rename.path("done").asLong(),
                                    rename.path("all").asLong()));
        }
        JsonNode names = all.path("names");
        if (names.isObject()) {
            add(text, "names", names.path("objects").asLong() + " " + StatsScreen.listed(names));
        }
        JsonNode share = all.path("share");
        if (share.isObject()) {
            int others = Math.max(0, share.path("members").size() - 1);
            text.append(now.fill("shared:      {FROM_PEERS} from %d other nodes, {TO_PEERS} to them;".formatted(others)
                    + " {FALLBACKS} fallbacks to the store\n"));
        }
        if (!all.path("calls").isEmpty()) {
            text.append(calls(all.path("calls")));
        }
        return text.toString();
    }

    /** One line for each call, with its quantiles and errors. */
    private static String calls(JsonNode calls) {
        StringBuilder text = new StringBuilder(
                "%-15s %10s %7s %7s %7s  %s%n".formatted("calls:", "number", "p50", "p99", "p99.9", "errors"));
        for (Map.Entry<String, JsonNode> call : calls.properties()) {
            text.append("%-15s %10d %7s %7s %7s  %s"
                            .formatted(
                                    "  " + call.getKey(),
                                    call.getValue().path("count").asLong(),
                                    quantile(call.getValue(), "p50"),
                                    quantile(call.getValue(), "p99"),
                                    quantile(call.getValue(), "p999"),
                                    errors(call.getValue().path("errors")))
                            .stripTrailing())
                    .append('\n');
        }
        return text.toString();
    }

    static String quantile(JsonNode call, String which) {
        return Figures.time(call.path(which + "Nanos").asLong());
    }

    private static String errors(JsonNode errors) {
        return errors.properties().stream()
                .map(error -> error.getValue() + " " + error.getKey())
                .collect(Collectors.joining(", "));
    }

    private static void add(StringBuilder text, String name, String value) {
        text.append("%-12s %s%n".formatted(name + ":", value));
    }
}
