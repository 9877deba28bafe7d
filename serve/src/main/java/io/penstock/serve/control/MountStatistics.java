package io.penstock.serve.control;

import io.penstock.cache.CacheStatistics;
import io.penstock.fuse.calls.CallStatistics;
import io.penstock.objectstore.s3.RequestStatistics;
import io.penstock.prefetch.ReadaheadStatistics;
import io.penstock.writeback.WritebackStatistics;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The counters of a mount since it was mounted, and its current state: the result of {@code stats}.
 *
 * @param source such as {@code s3://bucket/prefix}
 * @param seconds the time since it was mounted
 * @param requests the requests sent to the store; {@code cost} is what they cost
 * @param saved what the cache saved
 * @param writing null if the mount is read-only
 * @param calls the kernel's calls, by name
 * @param inFlight calls and requests in flight
 * @param memory bytes outside the heap, by purpose, such as {@code pages}
 * @param space limits on disk, and the pinned part of the cache
 * @param renames directory renames in progress
 * @param names the progress of the listing of the whole bucket; null if there is none
 * @param share null if the mount shares nothing
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
     * @param calls calls of the kernel
     * @param requests requests to the store
     */
    public record InFlight(long calls, long requests) {}

    /**
     * Space on disk, in bytes.
     *
     * @param cacheLimit the maximum for the cache on NVMe: {@code cache.size}
     * @param stagingLimit the maximum for staged files: {@code write.staging-size}
     * @param pinned bytes of the cache that are never evicted
     */
    public record Space(long cacheLimit, long stagingLimit, long pinned) {}

    /**
     * A directory that is being renamed, object by object.
     *
     * @param from the folder's old path below the mount point; ends in a slash
     * @param to the new one
     * @param step {@code copying} or {@code deleting}: first all objects are copied, then the originals are deleted, or
     *     the copies if the rename has failed
     * @param done objects that are done in this step
     * @param all objects in this step
     */
    public record Renaming(String from, String to, String step, long done, long all) {}

    /**
     * The listing of the whole bucket.
     *
     * @param objects listed so far
     * @param share the estimated share of the bucket, 0 to 1; 1 once the listing serves names
     */
    public record Names(long objects, double share) {}

    /** Bytes that programs have read and the kernel requested, including those of files that are being written. */
    public static long readBytes(Map<String, CallStatistics> calls) {
        CallStatistics read = calls.get("read");
        return read == null ? 0 : read.bytes();
    }
}
