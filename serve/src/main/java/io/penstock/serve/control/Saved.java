package io.penstock.serve.control;

import io.penstock.prefetch.ReadaheadStatistics;
import java.math.BigDecimal;

/**
 * What a mount's cache has saved: the bytes that programs have read beyond those that the store sent. Reads that the
 * kernel answers do not count; reads of files that are being written do.
 *
 * @param bytes the bytes that were not fetched
 * @param gets the GETs that they would have taken, at the average size of those made
 * @param cost the cost of these GETs and their transfer, in the currency of the prices
 */
public record Saved(long bytes, long gets, double cost) {
    /**
     * @param readBytes the bytes that programs have read
     * @param rangeBytes the size of a GET if none was made, as with a cache that an earlier mount filled; above 0
     * @param getPrice the price of 1,000 GETs
     * @param transferPrice the price of 1 GiB
     */
    public static Saved of(
            long readBytes,
            ReadaheadStatistics fetched,
            long rangeBytes,
            BigDecimal getPrice,
            BigDecimal transferPrice) {
        long bytes = Math.max(0, readBytes - fetched.bytesFetched());
        boolean isMeasured = fetched.bytesFetched() > 0 && fetched.allGets() > 0;
        double bytesOfGet = isMeasured ? (double) fetched.bytesFetched() / fetched.allGets() : rangeBytes;
        long gets = (long) Math.ceil(bytes / bytesOfGet);
        return new Saved(bytes, gets, Cost.gets(gets, getPrice) + Cost.transfer(bytes, transferPrice));
    }
}
