package io.penstock.serve.control;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a mount knows about a file: the result of {@code why}.
 *
 * @param version the ETag
 * @param bytes the file's size
 * @param nvme bytes on NVMe
 * @param memory bytes in memory
 * @param pinnedUntil when the pin ends; null if there is none, or if it lasts until it is removed
 * @param ranges the first ranges of bytes, each in one place
 * @param rangeCount how many ranges there are
 * @param shape how it is read, or was when it was last open: {@code unknown}, {@code in_runs} or {@code at_random}
 * @param readers handles that currently read it through the mount
 * @param streams running streams, each with readahead
 * @param coldGets the GETs that reading all of it would make
 * @param coldBytes the bytes that these would fetch
 * @param lastReads what the last reads that reached the mount waited for
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
     * @param sources how many of the last 16 waited for each of {@code memory}, {@code nvme}, {@code in_flight},
     *     {@code store} and {@code limits}
     * @param storeSeconds how long all remembered reads waited for the store
     * @param nvmeSeconds the same for NVMe
     * @param limitSeconds the same for memory, or for the slot of a GET
     * @param ahead why some of it was last fetched ahead: {@code not}, {@code stream}, {@code directory_order},
     *     {@code epoch_order}, {@code whole_directory}, {@code warmup}
     */
    public record LastReads(
            Map<String, Integer> sources, double storeSeconds, double nvmeSeconds, double limitSeconds, String ahead) {}

    /** @param place {@code missing, inflight, memory, disk, memory_and_disk} or {@code sectors} */
    public record Range(long from, long to, String place) {}

    /**
     * The result for a file that is being written.
     *
     * @param state {@code dirty}, {@code staged}, {@code sent} or {@code visible}, as in the attribute user.penstock.object
     * @param bytes the file's size
     * @param written bytes that the version in the bucket lacks
     * @param staged those of them that are on the staging disk
     * @param uploaded bytes of the next version that the store already has
     */
    public record Written(
            String path, String key, String state, long bytes, long written, long staged, long uploaded) {}
}
