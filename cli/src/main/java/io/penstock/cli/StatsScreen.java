package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.core.Printable;
import io.penstock.serve.control.Statistic;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * The live view of a mount: its rates between two samples, and its current state. Below 120 columns the kernel's calls
 * are below the rest, otherwise to its right. A terminal with too few lines shows the most important ones, and how many
 * are missing. Immutable.
 */
final class StatsScreen {
    private static final int SIDE_BY_SIDE = 120;

    private static final String READS = """
        Page reads a second      {PAGES/s:8}         {CALL_BYTES[read]/s:8} in calls
          from memory            {MEMORY_HITS/s:8}  {MEMORY_HITS of PAGES/s:5}  {MEMORY_READ/s:8}
          from NVMe              {DISK_HITS/s:8}  {DISK_HITS of PAGES/s:5}  {DISK_READ/s:8}
          waited for a fetch     {WAITS/s:8}  {WAITS of PAGES/s:5}  {WAITED_READ/s:8}
          missed                 {MISSES/s:8}  {MISSES of PAGES/s:5}  kernel: not counted
        Waiting readers          {STORE_WAIT+DISK_WAIT+LIMIT_WAIT/s:8}  store {STORE_WAIT/s},\
         NVMe {DISK_WAIT/s}, limits {LIMIT_WAIT/s}
        Calls in flight          {CALLS_IN_FLIGHT:8}  requests to the store {IN_FLIGHT}
        Cache                    {MEMORY_SIZE:8}  in memory, {DISK_SIZE} on NVMe
          pages evicted a second {EVICTED/s:8}  limit {CACHE_LIMIT}, pinned {PINNED}
          not stored, damaged    {UNSTORED:8}  {DAMAGED}, disk errors {DISK_ERRORS}

        """;

    private static final String FETCHED = """
        Fetched a second         {FETCHED/s:8}  in {DEMAND_GETS+READAHEAD_GETS/s} GETs
        """;

    private static final String READ_AHEAD = """
          ahead of readers       {READAHEAD/s:8}  used {READAHEAD_USED of READAHEAD/s}
          failed, cancelled      {FAILED_GETS:8}  {CANCELLED_GETS}
        """;

    private static final String REQUESTS = """
        GETs and HEADs a second  {GETS/s:8}  {HEADS/s}, {LISTS/s} listings
          PUTs, deletions        {PUTS/s:8}  {DELETES/s}
          retries, throttled     {RETRIES:8}  {THROTTLED}
        """;

    private static final String COST = """
        Cost                     {REQUEST_COST:8}  and {TRANSFER_COST} for transfer
          the cache saved        {SAVED_COST:8}  about {SAVED_GETS} GETs, {SAVED}

        """;

    private static final String NODES = """
        From nodes a second      {FROM_PEERS/s:8}  to them {TO_PEERS/s}
          fallbacks to store     {FALLBACKS/s:8}  a second

        """;

    private static final String WRITES = """
        Uploaded a second        {UPLOADED/s:8}
          to upload              {BACKLOG:8}  of {BACKLOG_FILES} closed files LEFT
          in memory, staged      {DIRTY:8}  {STAGED}
          files that failed      {FAILED_FILES:8}

        """;

    private static final String MEMORY = """
        Memory outside the heap  {NATIVE:8}  pages {NATIVE[pages]}
          blocks, connections    {NATIVE[blocks]:8}  {NATIVE[connections]}, names {NATIVE[names]}
          requests, replies      {NATIVE[requests]:8}  {NATIVE[replies]}
        """;

    private final JsonNode now;
    private final StatsText text;

    /** Both are responses of the mount. */
    StatsScreen(JsonNode before, JsonNode now) {
        this.now = now;
        this.text = new StatsText(before, now);
    }

    /** At most {@code rows} lines, of at most {@code columns}. */
    List<String> lines(int columns, int rows) {
        List<String> all = full(columns);
        if (all.size() > rows) {
            all = compact();
        }
        List<String> shown = new ArrayList<>(all.subList(0, Math.min(all.size(), rows)));
        if (all.size() > rows) {
            int hidden = all.size() - rows + 1;
            shown.set(
                    rows - 1,
                    "… %d more lines; a larger terminal shows them, or penstock stats --once".formatted(hidden));
        }
        return shown.stream()
                .map(line -> line.substring(0, Math.min(line.length(), columns)).stripTrailing())
                .toList();
    }

    private String heading() {
        return "%s on %s   process %d   mounted for %s"
                .formatted(
                        now.path("source").asText(),
                        now.path("mountPoint").asText(),
                        now.path("pid").asLong(),
                        Figures.duration(Math.round(Statistic.UPTIME.of(now))));
    }

    private List<String> full(int columns) {
        List<String> lines = new ArrayList<>(List.of(heading(), ""));
        List<String> left = new ArrayList<>();
        left.addAll(text.lines(READS + FETCHED + READ_AHEAD + REQUESTS + COST));
        left.addAll(nodes());
        left.addAll(writes());
        left.addAll(renames());
        left.addAll(names());
        List<String> calls = calls();
        if (columns >= SIDE_BY_SIDE) {
            left.addAll(text.lines(MEMORY));
            for (int i = 0; i < Math.max(left.size(), calls.size()); i++) {
                String beside = i < calls.size() ? calls.get(i) : "";
                // Longer lines on the left are cut where the right column begins.
                lines.add("%-62.61s%s".formatted(i < left.size() ? left.get(i) : "", beside));
            }
        } else {
            lines.addAll(left);
            lines.addAll(calls);
            lines.add("");
            lines.addAll(text.lines(MEMORY));
        }
        return lines;
    }

    /** The most important lines, about twenty, and then the calls. */
    private List<String> compact() {
        List<String> lines = new ArrayList<>();
        lines.add(heading());
        lines.addAll(text.lines(READS + FETCHED + REQUESTS));
        lines.addAll(writes());
        lines.addAll(nodes());
        lines.removeIf(String::isEmpty);
        lines.addAll(calls());
        return lines;
    }

    /** The traffic with other nodes. Empty if the mount shares nothing. */
    private List<String> nodes() {
        return now.path("share").isObject() ? text.lines(NODES) : List.of();
    }

    /** The progress of directory renames. Empty if none runs. */
    private List<String> renames() {
        List<String> lines = new ArrayList<>();
        for (JsonNode rename : now.path("renames")) {
            lines.add("Renaming %-15.15s %8d  of %d objects, %s"
                    .formatted(
                            Printable.text(rename.path("from").asText()),
                            rename.path("done").asLong(),
                            rename.path("all").asLong(),
                            rename.path("step").asText()));
        }
        if (!lines.isEmpty()) {
            lines.add("");
        }
        return lines;
    }

    /** The progress of the listing of the whole bucket. Empty if there is none. */
    private List<String> names() {
        JsonNode names = now.path("names");
        return names.isObject()
                ? List.of(
                        "Names                    %8d  %s"
                                .formatted(names.path("objects").asLong(), listed(names)),
                        "")
                : List.of();
    }

    static String listed(JsonNode names) {
        double share = names.path("share").asDouble();
        return share < 1 ? "listed, about %.0f%%".formatted(100 * share) : "all listed";
    }

    private List<String> writes() {
        if (!now.path("writing").isObject()) {
            return List.of("Mounted read-only", "");
        }
        double uploaded = text.rate(Statistic.UPLOADED);
        double backlog = Statistic.BACKLOG.of(now);
        String left = uploaded > 0 && backlog > 0 ? Figures.duration(Math.round(backlog / uploaded)) + " left" : "";
        return text.lines(WRITES.replace("LEFT", left));
    }

    private List<String> calls() {
        List<String> lines = new ArrayList<>();
        lines.add("%-16s%9s%8s%8s%8s%8s".formatted("Calls", "a second", "p50", "p99", "p99.9", "errors"));
        now.path("calls").properties().stream()
                .sorted(Comparator.<Map.Entry<String, JsonNode>>comparingDouble(
                                call -> text.rate(Statistic.CALLS, call.getKey()))
                        .thenComparingDouble(call -> Statistic.CALLS.of(now, call.getKey()))
                        .reversed())
                .forEach(call -> lines.add(line(call.getKey(), call.getValue())));
        return lines;
    }

    private String line(String name, JsonNode call) {
        return "%-16s%9s%8s%8s%8s%8s"
                .formatted(
                        name,
                        Figures.count(text.rate(Statistic.CALLS, name)),
                        StatsTable.quantile(call, "p50"),
                        StatsTable.quantile(call, "p99"),
                        StatsTable.quantile(call, "p999"),
                        Figures.count(Statistic.CALL_ERRORS.of(now, name)));
    }
}
