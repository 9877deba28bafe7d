package io.penstock.cli;

import static io.penstock.cli.Figures.count;
import static io.penstock.cli.Figures.percent;
import static io.penstock.cli.Figures.time;

import io.penstock.cache.CacheStatistics;
import io.penstock.core.Printable;
import io.penstock.fuse.calls.CallStatistics;
import io.penstock.prefetch.ReadaheadStatistics;
import io.penstock.serve.control.MountStatistics;
import io.penstock.serve.control.ShareStatus;
import io.penstock.settings.ByteSizes;
import io.penstock.writeback.WritebackStatistics;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * The live view of a mount: its rates between two samples, and its current state. Below 120 columns the kernel's calls
 * are below the rest, otherwise to its right. A terminal with too few lines shows the most important ones, and how many
 * are missing. Immutable.
 */
final class StatsScreen {
    private static final int SIDE_BY_SIDE = 120;

    private static final double NANOS = 1e9;

    private final MountStatistics before;
    private final MountStatistics now;
    private final double seconds;

    StatsScreen(MountStatistics before, MountStatistics now) {
        this.before = before;
        this.now = now;
        this.seconds = Math.max(0.001, now.seconds() - before.seconds());
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
                .formatted(now.source(), now.mountPoint(), now.pid(), Figures.duration(Math.round(now.seconds())));
    }

    private List<String> full(int columns) {
        List<String> lines = new ArrayList<>(List.of(heading(), ""));
        List<String> left = new ArrayList<>();
        left.addAll(reads());
        left.addAll(fetches());
        left.addAll(requests());
        left.addAll(cost());
        left.addAll(nodes());
        left.addAll(writes());
        left.addAll(renames());
        left.addAll(names());
        List<String> calls = calls();
        if (columns >= SIDE_BY_SIDE) {
            left.addAll(memory());
            for (int i = 0; i < Math.max(left.size(), calls.size()); i++) {
                String beside = i < calls.size() ? calls.get(i) : "";
                // Longer lines on the left are cut where the right column begins.
                lines.add("%-62.61s%s".formatted(i < left.size() ? left.get(i) : "", beside));
            }
        } else {
            lines.addAll(left);
            lines.addAll(calls);
            lines.add("");
            lines.addAll(memory());
        }
        return lines;
    }

    /** The most important lines, about twenty, and then the calls. */
    private List<String> compact() {
        List<String> lines = new ArrayList<>();
        lines.add(heading());
        lines.addAll(reads());
        lines.add(fetches().getFirst());
        lines.addAll(requests());
        lines.addAll(writes());
        lines.addAll(nodes());
        lines.removeIf(String::isEmpty);
        lines.addAll(calls());
        return lines;
    }

    private List<String> reads() {
        CacheStatistics cache = now.cache();
        double memory = rate(all -> all.cache().memoryHits());
        double nvme = rate(all -> all.cache().diskHits());
        double waited = rate(all -> all.cache().waits());
        double missed = rate(all -> all.cache().misses());
        double pages = memory + nvme + waited + missed;
        double forStore = rate(all -> all.storeWaitNanos() / NANOS);
        double forDisk = rate(all -> all.cache().diskNanos() / NANOS);
        double forLimits = rate(all -> all.limitWaitNanos() / NANOS);
        return List.of(
                "Page reads a second      %8s         %8s in calls"
                        .formatted(count(pages), bytes(all -> MountStatistics.readBytes(all.calls()))),
                pageReads("from memory", memory, pages, all -> all.cache().memoryReadBytes()),
                pageReads("from NVMe", nvme, pages, all -> all.cache().diskReadBytes()),
                pageReads(
                        "waited for a fetch", waited, pages, all -> all.cache().waitedReadBytes()),
                "  missed                 %8s  %5s  kernel: not counted"
                        .formatted(count(missed), percent(missed, pages)),
                "Waiting readers          %8s  store %s, NVMe %s, limits %s"
                        .formatted(
                                count(forStore + forDisk + forLimits),
                                count(forStore),
                                count(forDisk),
                                count(forLimits)),
                "Calls in flight          %8d  requests to the store %d"
                        .formatted(now.inFlight().calls(), now.inFlight().requests()),
                "Cache                    %8s  in memory, %s on NVMe"
                        .formatted(ByteSizes.about(cache.memoryBytes()), ByteSizes.about(cache.diskBytes())),
                "  pages evicted a second %8s  limit %s, pinned %s"
                        .formatted(
                                count(rate(all -> all.cache().evictedPages())),
                                ByteSizes.about(now.space().cacheLimit()),
                                ByteSizes.about(now.space().pinned())),
                "  not stored, damaged    %8d  %d, disk errors %d"
                        .formatted(cache.unstoredPages(), cache.corruptPages(), cache.diskErrors()),
                "");
    }

    private String pageReads(String source, double reads, double all, ToDoubleFunction<MountStatistics> bytes) {
        return "  %-22s %8s  %5s  %8s".formatted(source, count(reads), percent(reads, all), bytes(bytes));
    }

    private List<String> fetches() {
        ReadaheadStatistics ahead = now.readahead();
        double claimed = rate(all -> all.readahead().readaheadBytes());
        double used = rate(all -> all.readahead().readaheadBytesUsed());
        return List.of(
                "Fetched a second         %8s  in %s GETs"
                        .formatted(
                                ByteSizes.about(rate(all -> all.readahead().bytesFetched())),
                                count(rate(all -> all.readahead().allGets()))),
                "  ahead of readers       %8s  used %s".formatted(ByteSizes.about(claimed), percent(used, claimed)),
                "  failed, cancelled      %8d  %d".formatted(ahead.failedGets(), ahead.cancelledGets()));
    }

    private List<String> requests() {
        return List.of(
                "GETs and HEADs a second  %8s  %s, %s listings"
                        .formatted(
                                count(rate(all -> all.requests().gets())),
                                count(rate(all -> all.requests().heads())),
                                count(rate(all -> all.requests().lists()))),
                "  PUTs, deletions        %8s  %s"
                        .formatted(
                                count(rate(all -> all.requests().puts())),
                                count(rate(all -> all.requests().deletes()))),
                "  retries, throttled     %8d  %d"
                        .formatted(now.requests().retries(), now.requests().throttled()));
    }

    private List<String> cost() {
        return List.of(
                String.format(
                        Locale.ROOT,
                        "Cost                     %8.4f  and %.4f for transfer",
                        now.cost().requests(),
                        now.cost().transfer()),
                String.format(
                        Locale.ROOT,
                        "  the cache saved        %8.4f  about %d GETs, %s",
                        now.saved().cost(),
                        now.saved().gets(),
                        ByteSizes.about(now.saved().bytes())),
                "");
    }

    /** The traffic with other nodes. Empty if the mount shares nothing. */
    private List<String> nodes() {
        return now.share() == null
                ? List.of()
                : List.of(
                        "From nodes a second      %8s  to them %s"
                                .formatted(
                                        ByteSizes.about(rate(all -> share(all, ShareStatus::bytesFromPeers))),
                                        ByteSizes.about(rate(all -> share(all, ShareStatus::bytesServed)))),
                        "  fallbacks to store     %8s  a second"
                                .formatted(count(rate(all -> share(all, ShareStatus::allFallbacks)))),
                        "");
    }

    private static long share(MountStatistics all, ToLongFunction<ShareStatus> value) {
        return all.share() == null ? 0 : value.applyAsLong(all.share());
    }

    /** The progress of directory renames. Empty if none runs. */
    private List<String> renames() {
        List<String> lines = new ArrayList<>();
        for (MountStatistics.Renaming rename : now.renames()) {
            lines.add("Renaming %-15.15s %8d  of %d objects, %s"
                    .formatted(Printable.text(rename.from()), rename.done(), rename.all(), rename.step()));
        }
        if (!lines.isEmpty()) {
            lines.add("");
        }
        return lines;
    }

    /** The progress of the listing of the whole bucket. Empty if there is none. */
    private List<String> names() {
        MountStatistics.Names names = now.names();
        return names == null
                ? List.of()
                : List.of(
                        "Names                    %8s  %s".formatted(count((double) names.objects()), listed(names)),
                        "");
    }

    static String listed(MountStatistics.Names names) {
        return names.share() < 1 ? "listed, about %.0f%%".formatted(100 * names.share()) : "all listed";
    }

    private List<String> writes() {
        WritebackStatistics writing = now.writing();
        if (writing == null || before.writing() == null) {
            return List.of("Mounted read-only", "");
        }
        double uploaded = rate(all -> all.writing() == null ? 0 : all.writing().uploadedBytes());
        String left = uploaded > 0 && writing.backlogBytes() > 0
                ? Figures.duration(Math.round(writing.backlogBytes() / uploaded)) + " left"
                : "";
        return List.of(
                "Uploaded a second        %8s".formatted(ByteSizes.about(uploaded)),
                "  to upload              %8s  of %d closed files %s"
                        .formatted(ByteSizes.about(writing.backlogBytes()), writing.backlogFiles(), left),
                "  in memory, staged      %8s  %s"
                        .formatted(ByteSizes.about(writing.dirtyBytes()), ByteSizes.about(writing.stagedBytes())),
                "  files that failed      %8d".formatted(writing.failedFiles()),
                "");
    }

    private List<String> memory() {
        Map<String, Long> memory = now.memory();
        return List.of(
                "Memory outside the heap  %8s  pages %s"
                        .formatted(
                                ByteSizes.about(memory.values().stream()
                                        .mapToLong(Long::longValue)
                                        .sum()),
                                share("pages")),
                "  blocks, connections    %8s  %s, names %s"
                        .formatted(share("blocks"), share("connections"), share("names")),
                "  requests, replies      %8s  %s".formatted(share("requests"), share("replies")));
    }

    private String share(String purpose) {
        return ByteSizes.about(now.memory().getOrDefault(purpose, 0L));
    }

    private List<String> calls() {
        List<String> lines = new ArrayList<>();
        lines.add("%-16s%9s%8s%8s%8s%8s".formatted("Calls", "a second", "p50", "p99", "p99.9", "errors"));
        now.calls().entrySet().stream()
                .sorted(Comparator.<Map.Entry<String, CallStatistics>>comparingDouble(call -> calls(call.getKey()))
                        .thenComparingLong(call -> call.getValue().count())
                        .reversed())
                .forEach(entry -> lines.add(line(entry)));
        return lines;
    }

    private String line(Map.Entry<String, CallStatistics> entry) {
        CallStatistics call = entry.getValue();
        Collection<Long> errors = call.errors().values();
        return "%-16s%9s%8s%8s%8s%8d"
                .formatted(
                        entry.getKey(),
                        count(calls(entry.getKey())),
                        time(call.p50Nanos()),
                        time(call.p99Nanos()),
                        time(call.p999Nanos()),
                        errors.stream().mapToLong(Long::longValue).sum());
    }

    private double calls(String name) {
        return rate(all -> {
            CallStatistics call = all.calls().get(name);
            return call == null ? 0 : call.count();
        });
    }

    /** Bytes a second. */
    private String bytes(ToDoubleFunction<MountStatistics> counter) {
        return ByteSizes.about(rate(counter));
    }

    private double rate(ToDoubleFunction<MountStatistics> counter) {
        return (counter.applyAsDouble(now) - counter.applyAsDouble(before)) / seconds;
    }
}
