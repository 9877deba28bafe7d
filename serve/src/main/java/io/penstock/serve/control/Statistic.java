package io.penstock.serve.control;

import static io.penstock.serve.control.Statistic.Kind.COUNTER;
import static io.penstock.serve.control.Statistic.Kind.GAUGE;
import static io.penstock.serve.control.Statistic.Unit.BYTES;
import static io.penstock.serve.control.Statistic.Unit.COST;
import static io.penstock.serve.control.Statistic.Unit.NUMBER;
import static io.penstock.serve.control.Statistic.Unit.SECONDS;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.fuse.Supervisor;
import io.penstock.settings.process.Version;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The numbers that a mount reports: the one list from which the metrics, the texts of {@code penstock stats} and
 * docs/STATISTICS.md are made. Each is a field of {@link MountStatistics} as JSON, named by its path, or computed from
 * such fields. A {@code *} in a path matches every name, and the {@code *} at the same place in the labels is that
 * name: one statistic for each kind of call, for instance.
 */
@SuppressWarnings("ImmutableEnumChecker") // no collection changes, and no function has a state
public enum Statistic {
    BUILD(GAUGE, NUMBER, "build.info{version=" + Version.number() + "}", "Always 1", _ -> 1),
    UPTIME(GAUGE, SECONDS, "uptime", "seconds", "Time since the mount began"),
    RESTARTS(
            COUNTER,
            NUMBER,
            "restarts",
            "Processes of this mount that have died; this one continues the mount",
            _ -> Supervisor.current().restarts()),

    CALLS(COUNTER, NUMBER, "calls{call=*}", "calls.*.count", "Calls of the kernel"),
    CALL_DURATION(COUNTER, SECONDS, "call.duration{call=*}", "calls.*.nanos", "Total duration of calls"),
    CALLS_WITHIN(
            COUNTER,
            NUMBER,
            "calls.within{call=*,le=*}",
            "calls.*.faster.*",
            "Calls that took no longer than le, from 65 us to 17 s in powers of four, for histogram_quantile"),
    CALLS_WITHIN_ALL(CALLS_WITHIN, "{call=*,le=+Inf}", "calls.*.count"),
    CALL_BYTES(COUNTER, BYTES, "call{call=*}", "calls.*.bytes", "Bytes read or written"),
    CALL_ERRORS(COUNTER, NUMBER, "call.errors{call=*,errno=*}", "calls.*.errors.*", "Failed calls, by error"),
    CALLS_IN_FLIGHT(GAUGE, NUMBER, "calls.in.flight", "inFlight.calls", "Calls of the kernel without a reply yet"),

    MEMORY_HITS(
            COUNTER,
            NUMBER,
            "page.reads{from=memory}",
            "cache.memoryHits",
            "Page reads, by source: in-flight waited for a running fetch, store found the page missing"),
    DISK_HITS(MEMORY_HITS, "{from=nvme}", "cache.diskHits"),
    WAITS(MEMORY_HITS, "{from=in-flight}", "cache.waits"),
    MISSES(MEMORY_HITS, "{from=store}", "cache.misses"),
    MEMORY_READ(
            COUNTER,
            BYTES,
            "page.read{from=memory}",
            "cache.memoryReadBytes",
            "Bytes of page reads, by source; after a miss, the bytes count as in-flight"),
    DISK_READ(MEMORY_READ, "{from=nvme}", "cache.diskReadBytes"),
    WAITED_READ(MEMORY_READ, "{from=in-flight}", "cache.waitedReadBytes"),
    STORE_WAIT(
            COUNTER,
            SECONDS,
            "reader.wait{cause=store}",
            "Total time that readers waited: for the store or another node, NVMe, or limits (memory, or a GET slot)",
            all -> Math.max(0, seconds(all, "/cache/waitNanos") - seconds(all, "/readahead/turnNanos"))),
    DISK_WAIT(STORE_WAIT, "{cause=nvme}", "cache.diskNanos"),
    LIMIT_WAIT(
            STORE_WAIT,
            "{cause=limits}",
            all -> seconds(all, "/readahead/memoryNanos") + seconds(all, "/readahead/turnNanos")),

    MEMORY_SIZE(GAUGE, BYTES, "cache{tier=memory}", "cache.memoryBytes", "Bytes of pages in the cache now"),
    DISK_SIZE(MEMORY_SIZE, "{tier=nvme}", "cache.diskBytes"),
    CACHE_LIMIT(GAUGE, BYTES, "cache.limit", "space.cacheLimit", "Maximum size of the cache on NVMe: cache.size"),
    PINNED(GAUGE, BYTES, "cache.pinned", "space.pinned", "The pinned part of the cache"),
    FILLED(COUNTER, NUMBER, "pages.filled", "cache.filledPages", "Pages that arrived whole"),
    FAILED_FILLS(COUNTER, NUMBER, "pages.failed", "cache.failedFills", "Pages whose fetch failed or was cancelled"),
    EVICTED(COUNTER, NUMBER, "pages.evicted", "cache.evictedPages", "Pages evicted for space"),
    DAMAGED(COUNTER, NUMBER, "pages.damaged", "cache.corruptPages", "Pages with a wrong checksum"),
    UNSTORED(COUNTER, NUMBER, "pages.unstored", "cache.unstoredPages", "Pages not stored: NVMe full, slow or failing"),
    DISK_ERRORS(COUNTER, NUMBER, "disk.errors", "cache.diskErrors", "Failed reads and writes of the cache folder"),

    DEMAND_GETS(COUNTER, NUMBER, "gets{cause=demand}", "readahead.demandGets", "Range GETs, by cause"),
    READAHEAD_GETS(DEMAND_GETS, "{cause=readahead}", "readahead.readaheadGets"),
    FAILED_GETS(COUNTER, NUMBER, "gets.failed", "readahead.failedGets", "Range GETs that failed"),
    CANCELLED_GETS(COUNTER, NUMBER, "gets.cancelled", "readahead.cancelledGets", "Range GETs that no reader awaited"),
    FETCHED(COUNTER, BYTES, "fetched", "readahead.bytesFetched", "Bytes that arrived from the store"),
    READAHEAD(COUNTER, BYTES, "readahead.claimed", "readahead.readaheadBytes", "Bytes fetched ahead of readers"),
    READAHEAD_USED(COUNTER, BYTES, "readahead.used", "readahead.readaheadBytesUsed", "Bytes fetched ahead and used"),

    GETS(COUNTER, NUMBER, "requests{kind=get}", "requests.gets", "Requests to the store, each attempt counted"),
    HEADS(GETS, "{kind=head}", "requests.heads"),
    LISTS(GETS, "{kind=list}", "requests.lists"),
    PUTS(GETS, "{kind=put}", "requests.puts"),
    DELETES(GETS, "{kind=delete}", "requests.deletes"),
    RETRIES(COUNTER, NUMBER, "retries", "requests.retries", "Requests retried after a failure"),
    THROTTLED(COUNTER, NUMBER, "throttled", "requests.throttled", "Throttling responses of the store (429, 503)"),
    IN_FLIGHT(GAUGE, NUMBER, "requests.in.flight", "inFlight.requests", "Requests to the store under way"),
    REQUEST_COST(COUNTER, COST, "cost{of=requests}", "cost.requests", "Cost so far, at current prices"),
    TRANSFER_COST(REQUEST_COST, "{of=transfer}", "cost.transfer"),
    /** It falls when bytes are fetched before they are read. */
    SAVED(GAUGE, BYTES, "saved", "saved.bytes", "Bytes that programs read and the store did not send"),
    SAVED_GETS(GAUGE, NUMBER, "saved.gets", "saved.gets", "GETs saved"),
    SAVED_COST(GAUGE, COST, "saved.cost", "saved.cost", "Cost saved, at current prices"),

    UPLOADED(COUNTER, BYTES, "uploaded", "writing.uploadedBytes", "Bytes sent to the store"),
    COPIED(COUNTER, BYTES, "copied", "writing.copiedBytes", "Bytes that the store copied"),
    DIRTY(GAUGE, BYTES, "dirty", "writing.dirtyBytes", "Bytes of written blocks in memory"),
    STAGED(GAUGE, BYTES, "staged", "writing.stagedBytes", "Bytes in the staging folder"),
    STAGING_LIMIT(
            GAUGE,
            BYTES,
            "staging.limit",
            "Maximum size of the staging folder: write.staging-size",
            all -> all.path("writing").isObject()
                    ? all.at("/space/stagingLimit").asDouble()
                    : Double.NaN),
    BACKLOG(GAUGE, BYTES, "backlog", "writing.backlogBytes", "Bytes of closed files left to upload"),
    BACKLOG_FILES(GAUGE, NUMBER, "backlog.files", "writing.backlogFiles", "Closed files not in the bucket yet"),
    FAILED_FILES(GAUGE, NUMBER, "failed.files", "writing.failedFiles", "Files that wait for penstock recover"),

    RENAMES_LEFT(
            GAUGE,
            NUMBER,
            "renames.objects.left",
            "Objects left to copy or delete in the current step of directory renames",
            Statistic::objectsLeft),
    NAMES_LISTED(GAUGE, NUMBER, "names.listed.ratio", "names.share", "Listed part of the bucket's names: 0 to 1"),

    MEMBERS(GAUGE, NUMBER, "share.members", "share.members", "Nodes of the cache group, this one included"),
    FROM_PEERS(
            COUNTER,
            BYTES,
            "share{direction=in}",
            "share.bytesFromPeers",
            "Bytes from other nodes of the cache group (in), and to them (out)"),
    TO_PEERS(FROM_PEERS, "{direction=out}", "share.bytesServed"),
    PEER_REQUESTS(COUNTER, NUMBER, "share.requests{direction=in}", "share.requestsToPeers", "Requests between nodes"),
    PEER_REQUESTS_SERVED(PEER_REQUESTS, "{direction=out}", "share.requestsServed"),
    FALLBACKS(
            COUNTER,
            NUMBER,
            "share.fallbacks{cause=*}",
            "share.fallbacks.*",
            "Runs of pages owned by another node but delivered by the store, by cause, such as timeout or busy"),
    PEERS_GETS(COUNTER, NUMBER, "share.gets", "share.getsForPeers", "GETs caused by requests from other nodes"),

    HEAP(GAUGE, BYTES, "heap.used", "Used heap", _ -> {
        Runtime jvm = Runtime.getRuntime();
        return jvm.totalMemory() - jvm.freeMemory();
    }),
    HEAP_LIMIT(
            GAUGE,
            BYTES,
            "heap.max",
            "The heap's limit",
            _ -> Runtime.getRuntime().maxMemory()),
    DIRECT_BUFFERS(GAUGE, BYTES, "native.used", "Direct buffers, outside the heap", _ -> directBuffers()),
    NATIVE(
            GAUGE,
            BYTES,
            "native{share=*}",
            "memory.*",
            "Memory outside the heap, by purpose: pages of the cache, blocks of written files, requests and replies of"
                    + " the kernel, connections to the store, and names of the whole bucket, which are not in direct"
                    + " buffers. All except names keep released memory for reuse");

    /** Whether it only grows. */
    public enum Kind {
        COUNTER,
        GAUGE
    }

    /** What it counts. A cost is in the currency of the mount's prices. */
    public enum Unit {
        NUMBER,
        BYTES,
        SECONDS,
        COST
    }

    private static final double NANOS = 1e9;

    private final Kind kind;
    private final Unit unit;
    private final String name;
    private final Map<String, String> labels = new LinkedHashMap<>();
    private final List<String> path;
    private final double divisor;
    private final String help;
    private final @Nullable ToDoubleFunction<JsonNode> function;

    Statistic(Kind kind, Unit unit, String metric, String path, String help) {
        this(kind, unit, metric, help, List.of(path.split("\\.")), null);
    }

    /** @param function NaN if the mount does not have it */
    Statistic(Kind kind, Unit unit, String metric, String help, ToDoubleFunction<JsonNode> function) {
        this(kind, unit, metric, help, List.of(), function);
    }

    /** Another statistic of a family, whose metrics differ in their labels only. */
    Statistic(Statistic family, String labels, String path) {
        this(family.kind, family.unit, family.name + labels, path, family.help);
    }

    Statistic(Statistic family, String labels, ToDoubleFunction<JsonNode> function) {
        this(family.kind, family.unit, family.name + labels, family.help, function);
    }

    Statistic(
            Kind kind,
            Unit unit,
            String metric,
            String help,
            List<String> path,
            @Nullable ToDoubleFunction<JsonNode> function) {
        List<String> parts = Pattern.compile("[{,}]").splitAsStream(metric).toList();
        this.kind = kind;
        this.unit = unit;
        this.name = parts.getFirst();
        for (String label : parts.subList(1, parts.size())) {
            int end = label.indexOf('=');
            labels.put(label.substring(0, end), label.substring(end + 1));
        }
        this.help = help;
        this.path = path;
        boolean isNanos =
                !path.isEmpty() && path.getLast().toLowerCase(Locale.ROOT).endsWith("nanos");
        this.divisor = isNanos ? NANOS : 1;
        this.function = function;
    }

    public Kind kind() {
        return kind;
    }

    public Unit unit() {
        return unit;
    }

    /** The metric's name without its unit, in words with dots between them. */
    public String metric() {
        return name;
    }

    /** The metric's labels with their values; a value {@code *} is one of {@link #keys}. */
    public Map<String, String> labels() {
        return Collections.unmodifiableMap(labels);
    }

    /** The field of the JSON, such as {@code calls.*.count}; empty if it is computed. */
    public String path() {
        return String.join(".", path);
    }

    /** The metric's help, which is that of its whole family. */
    public String help() {
        return help;
    }

    /**
     * Its value, in bytes, seconds or so many; 0 if the mount does not have it.
     *
     * @param all a mount's {@link MountStatistics} as JSON
     * @param keys for each {@code *} of the path the name that replaces it; the sum over all names where it is absent
     */
    public double of(JsonNode all, String... keys) {
        if (function != null) {
            return function.applyAsDouble(all);
        }
        return sum(all, path, List.of(keys)) / divisor;
    }

    private static double sum(JsonNode node, List<String> path, List<String> keys) {
        if (path.isEmpty()) {
            return node.isArray() ? node.size() : node.asDouble();
        }
        List<String> rest = path.subList(1, path.size());
        if (!path.getFirst().equals("*")) {
            return sum(node.path(path.getFirst()), rest, keys);
        }
        if (!keys.isEmpty()) {
            return sum(node.path(keys.getFirst()), rest, keys.subList(1, keys.size()));
        }
        double all = 0;
        for (JsonNode each : node) {
            all += sum(each, rest, keys);
        }
        return all;
    }

    /** The names that each {@code *} of the path matches. Empty if the mount does not have the statistic. */
    public List<List<String>> keys(JsonNode all) {
        if (function != null) {
            return Double.isNaN(function.applyAsDouble(all)) ? List.of() : List.of(List.of());
        }
        return keys(all, path);
    }

    private static List<List<String>> keys(JsonNode node, List<String> path) {
        if (path.isEmpty()) {
            return node.isMissingNode() || node.isNull() ? List.of() : List.of(List.of());
        }
        List<String> rest = path.subList(1, path.size());
        if (!path.getFirst().equals("*")) {
            return keys(node.path(path.getFirst()), rest);
        }
        List<List<String>> found = new ArrayList<>();
        for (Map.Entry<String, JsonNode> each : node.properties()) {
            for (List<String> following : keys(each.getValue(), rest)) {
                found.add(Stream.concat(Stream.of(each.getKey()), following.stream())
                        .toList());
            }
        }
        return found;
    }

    private static double seconds(JsonNode all, String pointer) {
        return all.at(pointer).asDouble() / NANOS;
    }

    private static double objectsLeft(JsonNode all) {
        double left = 0;
        for (JsonNode rename : all.path("renames")) {
            left += rename.path("all").asDouble() - rename.path("done").asDouble();
        }
        return left;
    }

    private static double directBuffers() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToDouble(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }
}
