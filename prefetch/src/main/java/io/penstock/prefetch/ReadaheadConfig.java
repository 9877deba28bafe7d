package io.penstock.prefetch;

import io.penstock.cache.PageCache;

/**
 * Limits of readahead. A stream's own progress determines its window; these only bound it.
 *
 * @param maxWindowBytes maximum distance that readahead runs before a stream: 0 turns it off, else a page (1 MiB) or
 *     more
 * @param rangeSizeBytes maximum size of one GET; a multiple of the page size
 * @param concurrency maximum number of concurrent GETs of the mount; 1 or more. an eighth is for demand only
 * @param smallFileBytes objects up to this size are fetched whole at their first read; 0 for none
 */
public record ReadaheadConfig(long maxWindowBytes, long rangeSizeBytes, int concurrency, long smallFileBytes) {
    private static final long MIB = 1 << 20;

    public ReadaheadConfig {
        if (maxWindowBytes != 0 && maxWindowBytes < PageCache.PAGE_SIZE) {
            throw new IllegalArgumentException("readahead.max-window must be 0 (off) or at least one page of "
                    + PageCache.PAGE_SIZE + " bytes, not " + maxWindowBytes);
        }
        if (rangeSizeBytes < PageCache.PAGE_SIZE || rangeSizeBytes % PageCache.PAGE_SIZE != 0) {
            throw new IllegalArgumentException("readahead.range-size must be a multiple of the page of "
                    + PageCache.PAGE_SIZE + " bytes, not " + rangeSizeBytes);
        }
        if (concurrency < 1) {
            throw new IllegalArgumentException("readahead.concurrency must be at least 1, not " + concurrency);
        }
        if (smallFileBytes < 0) {
            throw new IllegalArgumentException("readahead.small-file must be 0 (off) or more, not " + smallFileBytes);
        }
    }

    /**
     * 128 MiB window, 8 MiB ranges, 96 GETs, 4 MiB small files. One connection to S3 carries some 90 MB/s, so 16 ranges
     * in flight give a stream 10 Gb/s; six such streams run in parallel. Each small file is one GET, to which S3
     * responds after 25 ms: 96 slots fetch 3,500 of them a second. On larger machines a mount's default settings are
     * higher.
     */
    public static final ReadaheadConfig DEFAULT = new ReadaheadConfig(128 * MIB, 8 * MIB, 96, 4 * MIB);
}
