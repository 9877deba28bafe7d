package io.penstock.serve.control;

import io.penstock.prefetch.ReadaheadStatistics;
import java.math.BigDecimal;

/**
 * The cache's savings of a mount: the bytes that programs have read beyond those that its store sent. Reads that the kernel
 * answers are not among them; reads of files that are being written are.
 *
 * @param bytes that were not fetched
 * @param gets that they would have taken, each as large as those that were made
 * @param cost of these GETs and their transfer, in the currency of the prices
 */
public record Saved(long bytes, long gets, double cost) {
    /**
     * @param readBytes that programs have read
     * @param rangeBytes of a GET if none was made, as with a cache that an earlier mount filled: above 0
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
