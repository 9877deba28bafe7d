package io.penstock.testing;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Bytes that follow from only a name, a generation and their offset: tests generate and verify them at any place of an
 * object of any size without storing it. Bytes of other names, generations and offsets differ, so tests detect a page
 * in the wrong place.
 *
 * @param name usually the object's key
 * @param size bytes
 * @param generation another generation has other bytes
 */
public record TestData(String name, long size, int generation) implements Content {
    public TestData {
        if (size < 0) {
            throw new IllegalArgumentException("no such size: " + size);
        }
    }

    /** The first generation. */
    public static TestData of(String name, long size) {
        return new TestData(name, size, 0);
    }

    @Override
    public String etag() {
        return String.format("\"%016x%016x\"", seed(), mix(size));
    }

    @Override
    public void read(long offset, ByteBuffer target) {
        checkWithin(offset, target.remaining());
        ByteOrder order = target.order();
        target.order(ByteOrder.LITTLE_ENDIAN);
        long seed = seed();
        long at = offset;
        while (target.hasRemaining()) {
            if ((at & 7) == 0 && target.remaining() >= Long.BYTES) {
                target.putLong(word(seed, at));
                at += Long.BYTES;
            } else {
                target.put(byteAt(seed, at++));
            }
        }
        target.order(order);
    }

    /** The bytes {@code [offset, offset + length)}. */
    public byte[] bytes(long offset, int length) {
        byte[] bytes = new byte[length];
        read(offset, ByteBuffer.wrap(bytes));
        return bytes;
    }

    /** All bytes; the size must fit an array. */
    public byte[] bytes() {
        return bytes(0, Math.toIntExact(size));
    }

    /**
     * Compares the remaining bytes of {@code actual}, which stays unchanged, with those from {@code offset} on.
     *
     * @throws AssertionError naming the first offset that differs
     */
    public void verify(long offset, ByteBuffer actual) {
        checkWithin(offset, actual.remaining());
        long seed = seed();
        for (int i = 0; i < actual.remaining(); i++) {
            byte expected = byteAt(seed, offset + i);
            byte found = actual.get(actual.position() + i);
            if (expected != found) {
                throw new AssertionError("'%s', generation %d, differs at offset %d: expected %d, found %d"
                        .formatted(name, generation, offset + i, expected, found));
            }
        }
    }

    private void checkWithin(long offset, int length) {
        if (offset < 0 || offset > size - length) {
            throw new IllegalArgumentException(
                    "offset %d, length %d lies outside '%s' of %d bytes".formatted(offset, length, name, size));
        }
    }

    private long seed() {
        long seed = generation;
        for (int i = 0; i < name.length(); i++) {
            seed = mix(seed ^ name.charAt(i));
        }
        return mix(seed);
    }

    private static byte byteAt(long seed, long offset) {
        return (byte) (word(seed, offset & ~7L) >>> (8 * (offset & 7)));
    }

    private static long word(long seed, long offset) {
        return mix(seed + offset);
    }

    /** SplitMix64's finalizer: every input bit changes half of the output bits. */
    private static long mix(long value) {
        long z = value + 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
