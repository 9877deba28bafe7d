package io.penstock.listing;

import java.nio.ByteBuffer;
import java.util.random.RandomGenerator;
import java.util.zip.CRC32C;

/** Changes the bytes of a {@link KeyTableFile} but keeps its checksums correct. */
final class SnapshotBytes {
    private static final int INDEX_SUM = 12;
    private static final int INDEX_AT = 16;
    private static final int INDEX_LENGTH = 24;
    private static final int HEAD_SUM = 32;

    private SnapshotBytes() {}

    static int indexAt(byte[] file) {
        return (int) ByteBuffer.wrap(file).getLong(INDEX_AT);
    }

    /** With a few changed numbers in its index, or in its head. */
    static byte[] forged(RandomGenerator random, byte[] file) {
        byte[] forged = file.clone();
        ByteBuffer bytes = ByteBuffer.wrap(forged);
        int indexAt = indexAt(file);
        if (random.nextInt(5) == 0) {
            int moved = random.nextInt(-100, 100);
            bytes.putLong(INDEX_AT, random.nextInt(4) == 0 ? random.nextLong() : indexAt + moved);
            if (random.nextBoolean()) {
                bytes.putLong(INDEX_LENGTH, bytes.capacity() - bytes.getLong(INDEX_AT));
                long at = bytes.getLong(INDEX_AT);
                indexAt = at >= 0 && at <= forged.length ? (int) at : indexAt;
            }
        } else {
            for (int i = random.nextInt(1, 4); i > 0; i--) {
                bytes.putInt(random.nextInt(indexAt, forged.length - Integer.BYTES + 1), number(random));
            }
        }
        bytes.putInt(INDEX_SUM, sum(forged, indexAt, forged.length - indexAt));
        bytes.putInt(HEAD_SUM, sum(forged, 0, HEAD_SUM));
        return forged;
    }

    private static int number(RandomGenerator random) {
        return switch (random.nextInt(5)) {
            case 0 -> Integer.MAX_VALUE - random.nextInt(9);
            case 1 -> Integer.MIN_VALUE + random.nextInt(9);
            case 2 -> random.nextInt(-9, 100);
            case 3 -> 1 << random.nextInt(32);
            default -> random.nextInt();
        };
    }

    private static int sum(byte[] bytes, int from, int length) {
        CRC32C sum = new CRC32C();
        sum.update(bytes, from, length);
        return (int) sum.getValue();
    }
}
