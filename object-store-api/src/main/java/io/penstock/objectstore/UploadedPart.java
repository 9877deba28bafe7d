package io.penstock.objectstore;

import java.util.OptionalInt;

/**
 * A part that the store has.
 *
 * @param number 1 to 10,000; parts are joined in this order, and numbers may be left out
 * @param etag with its quotes
 * @param size bytes
 * @param crc32c as the store keeps it; empty where it keeps none or it is not known. What is missing is asked for when
 *     the upload is completed
 */
public record UploadedPart(int number, String etag, long size, OptionalInt crc32c) {
    /** The highest number that S3 takes. */
    public static final int MAX_NUMBER = 10_000;

    /** The least bytes of any part but the last: a smaller one is refused when the upload is completed. */
    public static final long MIN_SIZE = 5L << 20;

    /** The most bytes of one part. */
    public static final long MAX_SIZE = 5L << 30;

    /** A part whose checksum is not known. */
    public UploadedPart(int number, String etag, long size) {
        this(number, etag, size, OptionalInt.empty());
    }
}
