package io.penstock.serve.control;

import io.penstock.objectstore.s3.RequestStatistics;
import java.math.BigDecimal;

/**
 * The cost of a mount's requests so far, in the currency of its prices.
 *
 * @param requests the cost of all requests
 * @param transfer the cost of the bytes fetched
 */
public record Cost(double requests, double transfer) {
    private static final double THOUSAND = 1_000;
    private static final double GIB = 1L << 30;

    /**
     * @param gets the price of 1,000 GETs and HEADs
     * @param puts the price of 1,000 other requests; deletions are free
     * @param transferred the price of 1 GiB
     */
    public static Cost of(
            RequestStatistics sent, long fetchedBytes, BigDecimal gets, BigDecimal puts, BigDecimal transferred) {
        double dear = (sent.puts() + sent.lists()) / THOUSAND * puts.doubleValue();
        return new Cost(gets(sent.gets() + sent.heads(), gets) + dear, transfer(fetchedBytes, transferred));
    }

    static double gets(long number, BigDecimal price) {
        return number / THOUSAND * price.doubleValue();
    }

    static double transfer(long bytes, BigDecimal price) {
        return bytes / GIB * price.doubleValue();
    }
}
