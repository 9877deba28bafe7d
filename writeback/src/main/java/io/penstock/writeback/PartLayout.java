package io.penstock.writeback;

/**
 * Which bytes of a file are which part. What an older version has comes first, in up to {@code baseParts} parts that are
 * only made at the commit; what lies behind it goes up while it is written, in parts whose size follows from the offset
 * alone: {@code doubleEvery} of {@code partBytes}, as many of twice that, and so on up to the largest part that S3 takes.
 *
 * @param baseEnd bytes; where the tail begins: a multiple of the block size; 0 for a new file
 * @param baseParts part numbers kept for what lies before {@code baseEnd}; 0 to 10,000
 * @param partBytes of the tail's first parts: a multiple of the block size, 8 MiB or more
 * @param doubleEvery so many parts of one size before the next; 1 or more
 */
record PartLayout(long baseEnd, int baseParts, long partBytes, int doubleEvery) {}
