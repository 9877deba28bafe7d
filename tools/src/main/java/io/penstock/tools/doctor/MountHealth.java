package io.penstock.tools.doctor;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.cache.CacheStatistics;
import io.penstock.objectstore.s3.RequestStatistics;
import io.penstock.prefetch.ReadaheadStatistics;
import io.penstock.serve.control.Json;
import io.penstock.serve.control.MountStatistics;
import io.penstock.serve.control.ShareStatus;
import io.penstock.serve.control.Statistic;
import io.penstock.settings.ByteSizes;
import io.penstock.settings.Configuration;
import io.penstock.settings.Settings;
import io.penstock.tools.measure.Text;
import io.penstock.writeback.WritebackStatistics;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The Penstock mounts on this machine, and one that is examined. */
public final class MountHealth {
    private static final long PAGE = 1L << 20;

    /** A fraction of all pages or requests; fewer failures are accidents. */
    private static final double MANY = 0.01;

    /** In bytes; less readahead is too little to judge. */
    private static final long MUCH = 1L << 30;

    private final Configuration configuration;

    /**
     * A mount, as its process reports it.
     *
     * @param mountPoint as in the mount table
     * @param alive whether a process serves it
     * @param description the features that its process negotiated with the kernel
     * @param statistics null if the process did not respond
     * @param silence a message that the process did not respond, and why; empty if it did
     */
    public record Facts(
            String mountPoint,
            boolean alive,
            String description,
            @Nullable MountStatistics statistics,
            String silence) {}

    /**
     * Mount points.
     *
     * @param all those of all mounts
     * @param dead those of mounts whose process has ended
     */
    record All(List<Path> all, List<Path> dead) {}

    MountHealth(Configuration configuration) {
        this.configuration = configuration;
    }

    /** Whether each is served. */
    static void all(All mounts, Findings findings) {
        mounts.dead()
                .forEach(dead -> findings.warning(
                        "the process that served " + dead + " has ended",
                        "Programs get \"Transport endpoint is not connected\"",
                        "Mount again, which continues its uploads, or remove it: penstock umount " + dead));
        if (findings.isEmpty()) {
            findings.ok(
                    mounts.all().isEmpty()
                            ? "no mounts"
                            : mounts.all().size()
                                    + ", each served by its process; penstock doctor MOUNTPOINT examines one");
        }
    }

    /** The statistics of a mount. */
    void one(Facts mount, Findings findings) {
        MountStatistics statistics = mount.statistics();
        if (!mount.alive()) {
            findings.error(
                    "the process that served " + mount.mountPoint() + " has ended",
                    "Programs get \"Transport endpoint is not connected\"",
                    "Mount again, which removes the dead mount and continues its uploads; the log and dmesg show why"
                            + " it ended");
            return;
        } else if (statistics == null) {
            findings.error(
                    mount.silence(),
                    "Its state is unknown; if it is stopped or hangs, programs that use it hang too",
                    "Run penstock doctor as its user; if it hangs: jcmd PID Thread.dump_to_file, and umount -l "
                            + mount.mountPoint());
            return;
        }
        disk(statistics.cache(), findings);
        cacheSize(statistics.cache(), findings);
        store(statistics.readahead(), findings);
        throttling(statistics.requests(), findings);
        waits(statistics, findings);
        if (statistics.writing() != null) {
            writing(statistics.writing(), findings);
        }
        if (statistics.share() != null) {
            sharing(statistics.share(), findings);
        }
        if (mount.description().contains("no passthrough")) {
            findings.note(
                    "cached files are read through Penstock: " + mount.description(),
                    "That takes more CPU time than reading the disk directly",
                    "Remove the reason in parentheses, if you can");
        }
        if (findings.isEmpty()) {
            findings.ok(statistics.source() + " on " + mount.mountPoint() + ": no errors in "
                    + Text.number(Math.rint(statistics.seconds())) + " s");
        }
    }

    private static void disk(CacheStatistics cache, Findings findings) {
        if (cache.diskErrors() > 0) {
            findings.error(
                    cache.diskErrors() + " reads and writes of the cache folder failed",
                    "Reads go to the store instead",
                    "The log says why. Free space if the disk is full; otherwise check dmesg and smartctl, and set"
                            + " cache.dir to a folder on a healthy disk");
        }
        if (cache.corruptPages() > 0) {
            findings.error(
                    cache.corruptPages() + " cached pages were corrupt, and were fetched again",
                    "The disk returned other bytes than were written",
                    "Check dmesg and smartctl; set cache.dir to a folder on a healthy disk");
        }
        if (cache.unstoredPages() > MANY * cache.filledPages()) {
            findings.warning(
                    cache.unstoredPages() + " of " + cache.filledPages() + " pages were not stored",
                    "The cache's disk was full, or slower than the network: they will be fetched again",
                    "Free space there, lower cache.min-free, or set cache.dir to a folder on a faster disk");
        }
    }

    private void cacheSize(CacheStatistics cache, Findings findings) {
        if (cache.evictedPages() * PAGE > 2 * Math.max(PAGE, cache.diskBytes())) {
            findings.warning(
                    "the cache has evicted " + ByteSizes.about(cache.evictedPages() * PAGE) + ", but holds only "
                            + ByteSizes.about(cache.diskBytes()),
                    "Data that programs read again and again does not fit",
                    "Raise cache.size, which is " + configuration.show(Settings.CACHE_SIZE)
                            + ", or free space on its disk");
        }
    }

    private static void store(ReadaheadStatistics readahead, Findings findings) {
        if (readahead.failedGets() > MANY * readahead.allGets()) {
            findings.warning(
                    readahead.failedGets() + " of " + readahead.allGets() + " GETs failed",
                    "The store was down, or objects disappeared while they were read",
                    "The log says which; penstock mounts shows its path");
        }
        if (readahead.readaheadBytes() > MUCH && readahead.readaheadBytesUsed() < readahead.readaheadBytes() / 2) {
            findings.note(
                    "readers used " + ByteSizes.about(readahead.readaheadBytesUsed()) + " of the "
                            + ByteSizes.about(readahead.readaheadBytes()) + " that were read ahead",
                    "The rest was not needed, or not yet",
                    "Lower readahead.max-window if programs read parts of files");
        }
    }

    private static void throttling(RequestStatistics requests, Findings findings) {
        long all = requests.gets() + requests.heads() + requests.lists() + requests.puts() + requests.deletes();
        if (requests.throttled() > MANY * all) {
            findings.warning(
                    "the store has throttled " + requests.throttled() + " of " + all + " requests",
                    "Those requests wait, and are retried",
                    "Lower readahead.concurrency or upload.concurrency, or spread keys over more prefixes");
        }
    }

    private static void waits(MountStatistics all, Findings findings) {
        JsonNode tree = Json.tree(all);
        double forStore = Statistic.STORE_WAIT.of(tree) / Math.max(1, all.seconds());
        double forDisk = all.cache().diskNanos() / 1e9 / Math.max(1, all.seconds());
        if (forStore > 1) {
            findings.note(
                    "on average " + Text.number(forStore) + " readers were waiting for the store",
                    "They were waiting for data that was not cached",
                    "Raise cache.size if it is read again, or readahead.concurrency; penstock doctor BUCKET measures"
                            + " the network");
        }
        double forLimits = Statistic.LIMIT_WAIT.of(tree) / Math.max(1, all.seconds());
        if (forLimits > 1) {
            findings.note(
                    "on average " + Text.number(forLimits) + " readers were waiting for memory or for a GET slot",
                    "memory and readahead.concurrency are the limits",
                    "Raise memory, or readahead.concurrency; both can be set while mounted");
        }
        if (forDisk > 1) {
            findings.note(
                    "on average " + Text.number(forDisk) + " readers were waiting for the cache's disk",
                    "The disk is slower than the readers",
                    "Set cache.dir to a folder on a faster disk; penstock doctor BUCKET measures it");
        }
    }

    private static void sharing(ShareStatus share, Findings findings) {
        List<ShareStatus.Member> peers = share.members().stream()
                .filter(each -> !each.state().equals("self"))
                .toList();
        if (share.state() == ShareStatus.State.FAILED) {
            findings.warning(
                    "its cache is not shared: " + share.error(),
                    "Pages that other nodes have are fetched from the store again",
                    "Fix the cause; the mount retries every 30 s. docs/SHARING.md explains the settings");
        } else if (share.state() == ShareStatus.State.JOINED && peers.isEmpty()) {
            findings.note(
                    "no other node is in its cache group",
                    "It shares with nobody: nodes find each other only with the same bucket, prefix and authority",
                    "Compare share.peers, and let nodes reach " + share.listen() + " and the port above it");
        } else if (!peers.isEmpty()
                && peers.stream().allMatch(each -> each.state().equals("skipped"))) {
            findings.warning(
                    "all " + peers.size() + " other nodes of its cache group fail",
                    "Their data comes from the store, as if there were no group",
                    "penstock share status shows why; check the network between " + share.listen() + " and them");
        }
    }

    private static void writing(WritebackStatistics writing, Findings findings) {
        if (writing.failedFiles() > 0) {
            findings.error(
                    writing.failedFiles() + " written files could not be uploaded",
                    "They are kept on this machine's disk, and other nodes do not see them",
                    "Unmount, and run the penstock recover command that penstock mounts shows: it lists them with the"
                            + " reasons");
        }
    }
}
