package io.penstock.objectstore;

import java.util.OptionalInt;

/**
 * A part that the store has.
 *
 * @param number 1 to 10,000; parts are joined in this order, and numbers may be skipped
 * @param etag with its quotes
 * @param size bytes
 * @param crc32c as the store keeps it; empty if the store keeps none or it is unknown. A missing checksum is requested
 *     when the upload is completed
 */
public record UploadedPart(int number, String etag, long size, OptionalInt crc32c) {
    /** The highest part number that S3 accepts. */
    public static final int MAX_NUMBER = 10_000;

    /**
     * The minimum size in bytes of every part except the last. S3 refuses a smaller one when the upload is completed.
     */
    public static final long MIN_SIZE = 5L << 20;

    /** The maximum size in bytes of one part. */
    public static final long MAX_SIZE = 5L << 30;

    /** A part whose checksum is unknown. */
    public UploadedPart(int number, String etag, long size) {
        this(number, etag, size, OptionalInt.empty());
    }
}
