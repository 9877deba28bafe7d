package io.penstock.serve.metrics;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.penstock.cache.CacheStatistics;
import io.penstock.fuse.calls.CallStatistics;
import io.penstock.objectstore.RequestStatistics;
import io.penstock.prefetch.ReadaheadStatistics;
import io.penstock.serve.control.Cost;
import io.penstock.serve.control.MountStatistics;
import io.penstock.serve.control.Saved;
import io.penstock.serve.control.ShareStatus;
import io.penstock.settings.process.Version;
import io.penstock.writeback.WritebackStatistics;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The metrics of a mount in a registry. docs/OPERATIONS.md lists them under their names in Prometheus. Their values are
 * those of the last {@link #refresh}. Thread-safe.
 */
final class MountMeters {
    private static final String BYTES = "bytes";
    private static final String SECONDS = "seconds";

    private final MeterRegistry registry;
    private final Supplier<MountStatistics> source;

    private volatile MountStatistics now;

    /** Calls, errors of calls, and fallbacks that already have meters. */
    @GuardedBy("this")
    private final Set<String> seen = new HashSet<>();

    /** Registers all meters that exist now; those of calls, errors and fallbacks follow when the first occurs. */
    MountMeters(MeterRegistry registry, Supplier<MountStatistics> source) {
        this.registry = registry;
        this.source = source;
        this.now = source.get();
        registry.config().commonTags("source", now.source(), "mount", now.mountPoint());
        gauge("build.info", null, "The version", Tags.of("version", Version.number()), _ -> 1);
        gauge("uptime", SECONDS, "Time since mounting", Tags.empty(), MountStatistics::seconds);
        addCache();
        addReadahead();
        addRequests();
        addInFlight();
        if (now.writing() != null) {
            addWriting();
        }
        if (now.share() != null) {
            addSharing();
        }
        gauge(
                "renames.objects.left",
                null,
                "Objects left to copy or delete in the current step of directory renames",
                Tags.empty(),
                all -> all.renames().stream()
                        .mapToLong(rename -> rename.all() - rename.done())
                        .sum());
        if (now.names() != null) {
            gauge("names.listed.ratio", null, "Listed part of the bucket's names, from 0 to 1", Tags.empty(), all -> {
                MountStatistics.Names names = all.names();
                return names == null ? Double.NaN : names.share();
            });
        }
        addMemory();
        refresh();
    }

    /** Takes a new snapshot. */
    synchronized void refresh() {
        now = source.get();
        ShareStatus share = now.share();
        if (share != null) {
            share.fallbacks().keySet().forEach(cause -> {
                if (seen.add("fallback " + cause)) {
                    addFallback(cause);
                }
            });
        }
        now.calls().forEach((name, call) -> {
            if (seen.add(name)) {
                addCall(name, call);
            }
            call.errors().keySet().forEach(error -> {
                if (seen.add(name + " " + error)) {
                    addError(name, error);
                }
            });
        });
    }

    private void addCache() {
        pageReads("memory", CacheStatistics::memoryHits);
        pageReads("nvme", CacheStatistics::diskHits);
        pageReads("in-flight", CacheStatistics::waits);
        pageReads("store", CacheStatistics::misses);
        readBytes("memory", CacheStatistics::memoryReadBytes);
        readBytes("nvme", CacheStatistics::diskReadBytes);
        readBytes("in-flight", CacheStatistics::waitedReadBytes);
        waited("store", MountStatistics::storeWaitNanos);
        waited("nvme", all -> all.cache().diskNanos());
        waited("limits", MountStatistics::limitWaitNanos);
        pages("filled", "Pages that arrived whole", CacheStatistics::filledPages);
        pages("failed", "Pages whose fetch failed or was cancelled", CacheStatistics::failedFills);
        pages("evicted", "Pages evicted for space", CacheStatistics::evictedPages);
        pages("damaged", "Pages with a wrong checksum", CacheStatistics::corruptPages);
        pages("unstored", "Pages not written to NVMe: it was full, slow or failing", CacheStatistics::unstoredPages);
        counter(
                "disk.errors",
                null,
                "Failed reads and writes of the cache folder",
                Tags.empty(),
                all -> all.cache().diskErrors());
        cached("memory", CacheStatistics::memoryBytes);
        cached("nvme", CacheStatistics::diskBytes);
        gauge(
                "cache.limit",
                BYTES,
                "Maximum size of the cache on NVMe",
                Tags.empty(),
                all -> all.space().cacheLimit());
        gauge(
                "cache.pinned",
                BYTES,
                "The pinned part of the cache",
                Tags.empty(),
                all -> all.space().pinned());
    }

    private void pageReads(String from, ToLongFunction<CacheStatistics> value) {
        ofCache("page.reads", null, "Page reads, by source", Tags.of("from", from), value);
    }

    private void readBytes(String from, ToLongFunction<CacheStatistics> value) {
        ofCache("page.read", BYTES, "Bytes of page reads, by source", Tags.of("from", from), value);
    }

    private void waited(String cause, ToLongFunction<MountStatistics> nanos) {
        counter(
                "reader.wait",
                SECONDS,
                "Total time that readers waited",
                Tags.of("cause", cause),
                all -> nanos.applyAsLong(all) / 1e9);
    }

    private void pages(String what, String help, ToLongFunction<CacheStatistics> value) {
        ofCache("pages." + what, null, help, Tags.empty(), value);
    }

    private void ofCache(
            String name, @Nullable String unit, String help, Tags tags, ToLongFunction<CacheStatistics> value) {
        counter(name, unit, help, tags, all -> value.applyAsLong(all.cache()));
    }

    private void cached(String tier, ToLongFunction<CacheStatistics> value) {
        gauge(
                "cache",
                BYTES,
                "Bytes of pages in the cache now",
                Tags.of("tier", tier),
                all -> value.applyAsLong(all.cache()));
    }

    private void addInFlight() {
        gauge(
                "calls.in.flight",
                null,
                "Calls of the kernel without a reply yet",
                Tags.empty(),
                all -> all.inFlight().calls());
        gauge(
                "requests.in.flight",
                null,
                "Requests to the store under way",
                Tags.empty(),
                all -> all.inFlight().requests());
    }

    private void addReadahead() {
        gets("demand", ReadaheadStatistics::demandGets);
        gets("readahead", ReadaheadStatistics::readaheadGets);
        fetches("gets.failed", null, "Range GETs that failed", ReadaheadStatistics::failedGets);
        fetches(
                "gets.cancelled",
                null,
                "Range GETs cancelled because no reader waited",
                ReadaheadStatistics::cancelledGets);
        fetches("fetched", BYTES, "Bytes that arrived from the store", ReadaheadStatistics::bytesFetched);
        fetches("readahead.claimed", BYTES, "Bytes fetched ahead of readers", ReadaheadStatistics::readaheadBytes);
        fetches(
                "readahead.used",
                BYTES,
                "Bytes fetched ahead that readers used",
                ReadaheadStatistics::readaheadBytesUsed);
    }

    private void gets(String cause, ToLongFunction<ReadaheadStatistics> value) {
        counter(
                "gets",
                null,
                "Range GETs, by cause",
                Tags.of("cause", cause),
                all -> value.applyAsLong(all.readahead()));
    }

    private void fetches(String name, @Nullable String unit, String help, ToLongFunction<ReadaheadStatistics> value) {
        counter(name, unit, help, Tags.empty(), all -> value.applyAsLong(all.readahead()));
    }

    private void addRequests() {
        requests("get", RequestStatistics::gets);
        requests("head", RequestStatistics::heads);
        requests("list", RequestStatistics::lists);
        requests("put", RequestStatistics::puts);
        requests("delete", RequestStatistics::deletes);
        counter(
                "retries",
                null,
                "Requests retried after a failure",
                Tags.empty(),
                all -> all.requests().retries());
        counter(
                "throttled",
                null,
                "Throttling responses of the store (429, 503)",
                Tags.empty(),
                all -> all.requests().throttled());
        cost("requests", Cost::requests);
        cost("transfer", Cost::transfer);
        saved("saved", BYTES, "Bytes that programs read and the store did not send", Saved::bytes);
        saved("saved.gets", null, "GETs saved", Saved::gets);
        saved("saved.cost", null, "Cost saved, at current prices", Saved::cost);
    }

    private void requests(String kind, ToLongFunction<RequestStatistics> value) {
        counter(
                "requests",
                null,
                "Requests to the store, each attempt counted",
                Tags.of("kind", kind),
                all -> value.applyAsLong(all.requests()));
    }

    private void cost(String of, ToDoubleFunction<Cost> value) {
        counter(
                "cost",
                null,
                "Cost so far, at current prices",
                Tags.of("of", of),
                all -> value.applyAsDouble(all.cost()));
    }

    /** A gauge, because it falls when bytes are fetched before they are read. */
    private void saved(String name, @Nullable String unit, String help, ToDoubleFunction<Saved> value) {
        gauge(name, unit, help, Tags.empty(), all -> value.applyAsDouble(all.saved()));
    }

    private void addWriting() {
        counter(
                "uploaded",
                BYTES,
                "Bytes sent to the store",
                Tags.empty(),
                all -> writing(all).uploadedBytes());
        counter(
                "copied",
                BYTES,
                "Bytes that the store copied",
                Tags.empty(),
                all -> writing(all).copiedBytes());
        gauge(
                "dirty",
                BYTES,
                "Bytes of written blocks in memory",
                Tags.empty(),
                all -> writing(all).dirtyBytes());
        gauge(
                "staged",
                BYTES,
                "Bytes in the staging folder",
                Tags.empty(),
                all -> writing(all).stagedBytes());
        gauge(
                "staging.limit",
                BYTES,
                "Maximum size of the staging folder",
                Tags.empty(),
                all -> all.space().stagingLimit());
        gauge(
                "backlog",
                BYTES,
                "Bytes of closed files left to upload",
                Tags.empty(),
                all -> writing(all).backlogBytes());
        gauge(
                "backlog.files",
                null,
                "Closed files that are not visible yet",
                Tags.empty(),
                all -> writing(all).backlogFiles());
        gauge(
                "failed.files",
                null,
                "Files that wait for penstock recover",
                Tags.empty(),
                all -> writing(all).failedFiles());
    }

    private static WritebackStatistics writing(MountStatistics all) {
        return Objects.requireNonNull(all.writing());
    }

    private void addSharing() {
        gauge(
                "share.members",
                null,
                "Nodes of the cache group, this one included",
                Tags.empty(),
                all -> share(all).members().size());
        shared("in", ShareStatus::bytesFromPeers, ShareStatus::requestsToPeers);
        shared("out", ShareStatus::bytesServed, ShareStatus::requestsServed);
        counter(
                "share.gets",
                null,
                "GETs caused by requests from other nodes",
                Tags.empty(),
                all -> share(all).getsForPeers());
    }

    private void shared(String direction, ToLongFunction<ShareStatus> bytes, ToLongFunction<ShareStatus> requests) {
        Tags tags = Tags.of("direction", direction);
        counter("share", BYTES, "Bytes between nodes", tags, all -> bytes.applyAsLong(share(all)));
        counter("share.requests", null, "Requests between nodes", tags, all -> requests.applyAsLong(share(all)));
    }

    private void addFallback(String cause) {
        counter(
                "share.fallbacks",
                null,
                "Runs of pages owned by another node but delivered by the store",
                Tags.of("cause", cause),
                all -> share(all).fallbacks().getOrDefault(cause, 0L));
    }

    private static ShareStatus share(MountStatistics all) {
        return Objects.requireNonNull(all.share());
    }

    private void addMemory() {
        Runtime jvm = Runtime.getRuntime();
        gauge("heap.used", BYTES, "Used heap", Tags.empty(), _ -> jvm.totalMemory() - jvm.freeMemory());
        gauge("heap.max", BYTES, "The heap's limit", Tags.empty(), _ -> jvm.maxMemory());
        BufferPoolMXBean direct = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .findFirst()
                .orElseThrow();
        gauge("native.used", BYTES, "Direct buffers, outside the heap", Tags.empty(), _ -> direct.getMemoryUsed());
        now.memory()
                .keySet()
                .forEach(share -> gauge(
                        "native",
                        BYTES,
                        "Memory outside the heap, by purpose",
                        Tags.of("share", share),
                        all -> all.memory().getOrDefault(share, 0L)));
    }

    private void addCall(String name, CallStatistics first) {
        Tags tags = Tags.of("call", name);
        counter(
                "calls",
                null,
                "Calls of the kernel",
                tags,
                all -> call(all, name).count());
        counter(
                "call.duration",
                SECONDS,
                "Total duration of calls",
                tags,
                all -> call(all, name).nanos() / 1e9);
        counter(
                "call",
                BYTES,
                "Bytes read or written",
                tags,
                all -> call(all, name).bytes());
        first.faster()
                .keySet()
                .forEach(nanos ->
                        within(name, seconds(nanos), call -> call.faster().getOrDefault(nanos, 0L)));
        within(name, "+Inf", CallStatistics::count);
    }

    private void within(String name, String seconds, ToLongFunction<CallStatistics> value) {
        counter(
                "calls.within",
                null,
                "Calls that took no longer than le, in seconds",
                Tags.of("call", name, "le", seconds),
                all -> value.applyAsLong(call(all, name)));
    }

    private static String seconds(long nanos) {
        return BigDecimal.valueOf(nanos, 9).stripTrailingZeros().toPlainString();
    }

    private void addError(String name, String error) {
        counter(
                "call.errors",
                null,
                "Failed calls, by error",
                Tags.of("call", name, "errno", error),
                all -> call(all, name).errors().getOrDefault(error, 0L));
    }

    private static CallStatistics call(MountStatistics all, String name) {
        return Objects.requireNonNull(all.calls().get(name));
    }

    private void counter(
            String name, @Nullable String unit, String help, Tags tags, ToDoubleFunction<MountStatistics> value) {
        FunctionCounter.builder("penstock." + name, this, meters -> value.applyAsDouble(meters.now))
                .baseUnit(unit)
                .description(help)
                .tags(tags)
                .register(registry);
    }

    private void gauge(
            String name, @Nullable String unit, String help, Tags tags, ToDoubleFunction<MountStatistics> value) {
        Gauge.builder("penstock." + name, this, meters -> value.applyAsDouble(meters.now))
                .baseUnit(unit)
                .description(help)
                .tags(tags)
                .register(registry);
    }
}
