package io.penstock.cli;

import io.penstock.cache.CacheStatistics;
import io.penstock.core.Printable;
import io.penstock.fuse.calls.CallStatistics;
import io.penstock.objectstore.RequestStatistics;
import io.penstock.prefetch.ReadaheadStatistics;
import io.penstock.serve.control.MountStatistics;
import io.penstock.serve.control.ShareStatus;
import io.penstock.settings.ByteSizes;
import io.penstock.writeback.WritebackStatistics;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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

    private int lines;

    /** The rates a second between the two; with headings when they are due. */
    String line(MountStatistics before, MountStatistics now) {
        double seconds = Math.max(0.001, now.seconds() - before.seconds());
        CacheStatistics cache = now.cache();
        CacheStatistics cacheBefore = before.cache();
        ReadaheadStatistics ahead = now.readahead();
        ReadaheadStatistics aheadBefore = before.readahead();
        List<String> columns = new ArrayList<>(List.of(
                "%7s".formatted(Figures.count((cache.memoryHits() - cacheBefore.memoryHits()) / seconds)),
                "%7s".formatted(Figures.count((cache.diskHits() - cacheBefore.diskHits()) / seconds)),
                "%7s".formatted(Figures.count((cache.waits() - cacheBefore.waits()) / seconds)),
                "%7s".formatted(Figures.count((cache.misses() - cacheBefore.misses()) / seconds)),
                "%7s".formatted(Figures.count((ahead.allGets() - aheadBefore.allGets()) / seconds)),
                "%6s"
                        .formatted(Figures.count(
                                Figures.mib(ahead.bytesFetched() - aheadBefore.bytesFetched()) / seconds)),
                "%6s"
                        .formatted(Figures.percent(
                                ahead.readaheadBytesUsed() - aheadBefore.readaheadBytesUsed(),
                                ahead.readaheadBytes() - aheadBefore.readaheadBytes()))));
        WritebackStatistics writing = now.writing();
        WritebackStatistics writingBefore = before.writing();
        columns.add("%5s"
                .formatted(
                        writing == null || writingBefore == null
                                ? "-"
                                : Figures.count(Figures.mib(writing.uploadedBytes() - writingBefore.uploadedBytes())
                                        / seconds)));
        columns.add("%8s".formatted(writing == null ? "-" : ByteSizes.about(writing.backlogBytes())));
        columns.add("%6s".formatted(ByteSizes.about(cache.diskBytes())));
        boolean isTheirTurn = lines++ % LINES == 0;
        return (isTheirTurn ? HEADINGS : "") + String.join(" ", columns) + "\n";
    }

    /** All totals since the mount began. */
    static String totals(MountStatistics all) {
        StringBuilder text = new StringBuilder();
        CacheStatistics cache = all.cache();
        ReadaheadStatistics ahead = all.readahead();
        long reads = cache.memoryHits() + cache.diskHits() + cache.waits() + cache.misses();
        add(
                text,
                all.mountPoint(),
                "%s, process %d, for %s s".formatted(all.source(), all.pid(), Figures.count(all.seconds())));
        add(
                text,
                "page reads",
                "%d: %s from memory, %s from NVMe, %s waited for a fetch, %s missed"
                        .formatted(
                                reads,
                                Figures.percent(cache.memoryHits(), reads),
                                Figures.percent(cache.diskHits(), reads),
                                Figures.percent(cache.waits(), reads),
                                Figures.percent(cache.misses(), reads)));
        add(text, "not counted", "reads by the kernel, from its page cache and by passthrough");
        add(
                text,
                "bytes read",
                "%s from memory, %s from NVMe, %s waited for a fetch"
                        .formatted(
                                ByteSizes.about(cache.memoryReadBytes()),
                                ByteSizes.about(cache.diskReadBytes()),
                                ByteSizes.about(cache.waitedReadBytes())));
        add(
                text,
                "waited",
                "%s s for the store, %s s for NVMe, %s s for limits, summed over all readers"
                        .formatted(
                                Figures.count(all.storeWaitNanos() / 1e9),
                                Figures.count(cache.diskNanos() / 1e9),
                                Figures.count(all.limitWaitNanos() / 1e9)));
        add(
                text,
                "fetched",
                "%s in %d GETs, %d of them ahead; %d failed, %d cancelled"
                        .formatted(
                                ByteSizes.about(ahead.bytesFetched()),
                                ahead.allGets(),
                                ahead.readaheadGets(),
                                ahead.failedGets(),
                                ahead.cancelledGets()));
        RequestStatistics requests = all.requests();
        add(
                text,
                "requests",
                "%d GETs, %d HEADs, %d listings, %d PUTs, %d deletions; %d retries, %d throttled"
                        .formatted(
                                requests.gets(),
                                requests.heads(),
                                requests.lists(),
                                requests.puts(),
                                requests.deletes(),
                                requests.retries(),
                                requests.throttled()));
        add(
                text,
                "cost",
                String.format(
                        Locale.ROOT,
                        "%.4f for requests, %.4f for transfer; the cache saved about %.4f: %s in %d GETs",
                        all.cost().requests(),
                        all.cost().transfer(),
                        all.saved().cost(),
                        ByteSizes.about(all.saved().bytes()),
                        all.saved().gets()));
        add(
                text,
                "read ahead",
                "%s, of which readers used %s"
                        .formatted(
                                ByteSizes.about(ahead.readaheadBytes()),
                                Figures.percent(ahead.readaheadBytesUsed(), ahead.readaheadBytes())));
        add(
                text,
                "cache",
                "%s in memory, %s on NVMe; %d pages evicted, %d damaged, %d not stored, %d disk errors"
                        .formatted(
                                ByteSizes.about(cache.memoryBytes()),
                                ByteSizes.about(cache.diskBytes()),
                                cache.evictedPages(),
                                cache.corruptPages(),
                                cache.unstoredPages(),
                                cache.diskErrors()));
        WritebackStatistics writing = all.writing();
        add(
                text,
                "written",
                writing == null
                        ? "mounted read-only"
                        : "%s uploaded, %s copied by the store; %s in memory, %s staged; %s of %d closed files to upload; %d files failed"
                                .formatted(
                                        ByteSizes.about(writing.uploadedBytes()),
                                        ByteSizes.about(writing.copiedBytes()),
                                        ByteSizes.about(writing.dirtyBytes()),
                                        ByteSizes.about(writing.stagedBytes()),
                                        ByteSizes.about(writing.backlogBytes()),
                                        writing.backlogFiles(),
                                        writing.failedFiles()));
        add(
                text,
                "in flight",
                "%d calls, %d requests to the store"
                        .formatted(all.inFlight().calls(), all.inFlight().requests()));
        if (!all.memory().isEmpty()) {
            add(text, "memory", memory(all.memory()));
        }
        for (MountStatistics.Renaming rename : all.renames()) {
            add(
                    text,
                    "renaming",
                    "%s to %s: %s, %d of %d objects"
                            .formatted(
                                    Printable.text(rename.from()),
                                    Printable.text(rename.to()),
                                    rename.step(),
                                    rename.done(),
                                    rename.all()));
        }
        MountStatistics.Names names = all.names();
        if (names != null) {
            add(text, "names", "%d %s".formatted(names.objects(), StatsScreen.listed(names)));
        }
        ShareStatus share = all.share();
        if (share != null) {
            add(
                    text,
                    "shared",
                    "%s from %d other nodes, %s to them; %d fallbacks to the store"
                            .formatted(
                                    ByteSizes.about(share.bytesFromPeers()),
                                    Math.max(0, share.members().size() - 1),
                                    ByteSizes.about(share.bytesServed()),
                                    share.allFallbacks()));
        }
        if (!all.calls().isEmpty()) {
            text.append(calls(all.calls()));
        }
        return text.toString();
    }

    private static String memory(Map<String, Long> memory) {
        return memory.entrySet().stream()
                .map(share -> ByteSizes.about(share.getValue()) + " for " + share.getKey())
                .collect(Collectors.joining(", "));
    }

    /** One line for each call, with its quantiles and errors. */
    private static String calls(Map<String, CallStatistics> calls) {
        StringBuilder text = new StringBuilder(
                "%-15s %10s %7s %7s %7s  %s%n".formatted("calls:", "number", "p50", "p99", "p99.9", "errors"));
        calls.forEach((name, call) -> text.append("%-15s %10d %7s %7s %7s  %s"
                        .formatted(
                                "  " + name,
                                call.count(),
                                Figures.time(call.p50Nanos()),
                                Figures.time(call.p99Nanos()),
                                Figures.time(call.p999Nanos()),
                                errors(call))
                        .stripTrailing())
                .append('\n'));
        return text.toString();
    }

    private static String errors(CallStatistics call) {
        return call.errors().entrySet().stream()
                .map(error -> error.getValue() + " " + error.getKey())
                .collect(Collectors.joining(", "));
    }

    private static void add(StringBuilder text, String name, String value) {
        text.append("%-12s %s%n".formatted(name + ":", value));
    }
}
