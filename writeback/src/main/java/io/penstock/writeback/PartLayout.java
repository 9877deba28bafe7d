package io.penstock.writeback;

/**
 * Which bytes of a file are which part. The committed version that a file is changed from comes first, in up to
 * {@code baseParts} parts that are only made at the commit; what lies behind it goes up while it is written, in parts
 * that grow on a schedule: 2,500 of {@code partBytes}, then three times 2,500 (fewer if parts are reserved for a base),
 * each time larger by the same power of two, so that {@code largestObjectBytes} is reached within 10,000.
 *
 * @param baseEnd where the part-wise tail begins: a multiple of the block size; 0 for a new file
 */
record PartLayout(long baseEnd, int baseParts, long partBytes, long largestObjectBytes) {}
