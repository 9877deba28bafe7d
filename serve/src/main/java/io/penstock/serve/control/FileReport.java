package io.penstock.serve.control;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A mount's knowledge of a file: the result of {@code why}.
 *
 * @param version the ETag
 * @param bytes the file's size
 * @param nvme bytes on NVMe
 * @param memory bytes in memory
 * @param pinnedUntil when the pin ends; null if it lasts until it is taken off, or there is none
 * @param ranges of bytes that are in one place, the first ones
 * @param rangeCount how many there are
 * @param shape how it is read, or was when it was last open: {@code unknown}, {@code in_runs} or {@code at_random}
 * @param readers handles that read it through the mount now
 * @param streams running streams, each with readahead
 * @param coldGets the GETs that a read of all of it would make
 * @param coldBytes the bytes that these would fetch
 * @param lastReads the waits of the last reads that reached the mount
 */
public record FileReport(
        String path,
        String key,
        String version,
        String modified,
        long bytes,
        long nvme,
        long memory,
        boolean pinned,
        @Nullable String pinnedUntil,
        boolean passedThrough,
        List<Range> ranges,
        long rangeCount,
        String shape,
        int readers,
        int streams,
        long coldGets,
        long coldBytes,
        LastReads lastReads) {
    /**
     * The last reads.
     *
     * @param sources how many of the last 16 waited for each: {@code memory}, {@code nvme}, {@code in_flight}, {@code store},
     *     {@code limits}
     * @param storeSeconds that all reads have waited for the store, since it was first opened of late
     * @param nvmeSeconds the same for NVMe
     * @param limitSeconds the same for memory, or for the turn of a GET
     * @param ahead why some of it was fetched ahead last: {@code not}, {@code stream}, {@code directory_order}, {@code
     *     epoch_order}, {@code whole_directory}, {@code warmup}
     */
    public record LastReads(
            Map<String, Integer> sources, double storeSeconds, double nvmeSeconds, double limitSeconds, String ahead) {}

    /** @param place {@code missing}, {@code inflight}, {@code memory}, {@code disk}, {@code memory_and_disk}, {@code sectors} */
    public record Range(long from, long to, String place) {}
}
