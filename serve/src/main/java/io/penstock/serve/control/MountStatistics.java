package io.penstock.serve.control;

import io.penstock.cache.CacheStatistics;
import io.penstock.fuse.calls.CallStatistics;
import io.penstock.objectstore.RequestStatistics;
import io.penstock.prefetch.ReadaheadStatistics;
import io.penstock.writeback.WritebackStatistics;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The counters of a mount since it was mounted, and its state now: the result of {@code stats}.
 *
 * @param source such as {@code s3://bucket/prefix}
 * @param seconds since it was mounted
 * @param requests that were sent to the store, and their cost
 * @param saved by the cache
 * @param writing null of a read-only mount
 * @param calls of the kernel, by their names
 * @param inFlight now
 * @param memory outside the heap now, by its purpose, such as {@code pages}: bytes
 * @param space that it may take, and the pinned part of it
 * @param renames of directories that run now
 * @param names of the bucket, as far as all of it is listed; null if it is not
 * @param share null if it shares nothing
 */
public record MountStatistics(
        String source,
        String mountPoint,
        long pid,
        double seconds,
        CacheStatistics cache,
        ReadaheadStatistics readahead,
        RequestStatistics requests,
        Cost cost,
        Saved saved,
        @Nullable WritebackStatistics writing,
        Map<String, CallStatistics> calls,
        InFlight inFlight,
        Map<String, Long> memory,
        Space space,
        List<Renaming> renames,
        @Nullable Names names,
        @Nullable ShareStatus share) {
    /**
     * Calls and requests without a response yet.
     *
     * @param calls of the kernel
     * @param requests to the store
     */
    public record InFlight(long calls, long requests) {}

    /**
     * On disks, in bytes.
     *
     * @param cacheLimit the most that the cache takes on NVMe: {@code cache.size}
     * @param stagingLimit the most that staged files take: {@code write.staging-size}
     * @param pinned bytes of the cache that are never evicted
     */
    public record Space(long cacheLimit, long stagingLimit, long pinned) {}

    /**
     * A directory that is being renamed, object by object.
     *
     * @param from the folder's old path below the mount point; ends in a slash
     * @param to the new one
     * @param step {@code copying} or {@code deleting}: first all objects are copied, then the originals deleted, or the
     *     copies where the rename has failed
     * @param done objects of this step that are done
     * @param all objects of this step
     */
    public record Renaming(String from, String to, String step, long done, long all) {}

    /**
     * The listing of the whole bucket.
     *
     * @param objects listed so far
     * @param share of the bucket, 0 to 1, an estimate; 1 once it serves names
     */
    public record Names(long objects, double share) {}

    /** Bytes that programs have read, as far as the kernel asked for them; those of files that are being written, too. */
    public static long readBytes(Map<String, CallStatistics> calls) {
        CallStatistics read = calls.get("read");
        return read == null ? 0 : read.bytes();
    }

    /** How long readers waited for bytes of the store, or of other nodes: nanoseconds. */
    public long storeWaitNanos() {
        return Math.max(0, cache.waitNanos() - readahead.turnNanos());
    }

    /** How long readers waited for the limits of fetches, memory and the turn of a GET: nanoseconds. */
    public long limitWaitNanos() {
        return readahead.memoryNanos() + readahead.turnNanos();
    }
}
