package io.penstock.share;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.core.ObjectVersion;

/**
 * The unit of ownership: 8 MiB of an object version, fetched by one GET. Its numbers are hashes, the same on all nodes.
 */
final class OwnedSlabs {
    /** In bytes. As much as one range GET fetches by default. */
    static final long SIZE = 8 << 20;

    /** FNV-1a, 64 bits. */
    private static final long FNV_BASIS = 0xcbf29ce484222325L;

    private static final long FNV_PRIME = 0x100000001b3L;

    private OwnedSlabs() {}

    /** The slab of this byte. Each namespace has its own group, so the hash need not include it. */
    static long of(ObjectVersion version, long position) {
        return mix(hash(version.key()) ^ mix(hash(version.identity()) + position / SIZE));
    }

    /** The end of this byte's slab, in bytes from the start of the object. */
    static long end(long position) {
        return (position / SIZE + 1) * SIZE;
    }

    static long hash(String text) {
        long hash = FNV_BASIS;
        for (byte b : text.getBytes(UTF_8)) {
            hash = (hash ^ (b & 0xff)) * FNV_PRIME;
        }
        return mix(hash);
    }

    /** The finalizer of SplitMix64: each bit of the argument changes half of the result's bits. */
    static long mix(long value) {
        long z = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
