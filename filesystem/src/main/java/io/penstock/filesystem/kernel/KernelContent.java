package io.penstock.filesystem.kernel;

import io.penstock.core.ObjectVersion;
import io.penstock.metadata.LiveFile;

/** What an inode's attributes, pages or listing in the kernel are of. Numbers and names: a later process can read them. */
public sealed interface KernelContent {
    /**
     * A version of an object, by what its {@link ObjectVersion#identity} is made of: the kernel asks too often for that
     * to be made each time.
     *
     * @param second when it was written, since the epoch; 0 where the ETag says enough
     */
    record Version(String etag, long size, long second) implements KernelContent {
        // FNV-1a, 64 bits: draft-eastlake-fnv, section 5.
        private static final long OFFSET_BASIS = 0xcbf29ce484222325L;
        private static final long PRIME = 0x100000001b3L;

        /** Two versions of one object have the same with a chance of 2^-64. */
        long fingerprint() {
            long hash = OFFSET_BASIS;
            for (int i = 0; i < etag.length(); i++) {
                hash = (hash ^ etag.charAt(i)) * PRIME;
            }
            return with(second, with(size, hash));
        }

        private static long with(long value, long before) {
            long hash = before;
            for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
                hash = (hash ^ (value >>> shift & 0xff)) * PRIME;
            }
            return hash;
        }
    }

    /**
     * Content that is written here, and is no version.
     *
     * @param file the number of a {@code SharedFile}
     */
    record Written(long file) implements KernelContent {}

    /** A listing of a directory. */
    record Listing(String generation) implements KernelContent {}

    /** Of a listing whose parts are of several generations. */
    Listing MIXED = new Listing("");

    /** A file that says which content the kernel may have of it. */
    interface Holder extends LiveFile {
        /** Its current content, as the kernel may have it. */
        KernelContent kernelContent();
    }

    static Version of(ObjectVersion version) {
        long second = version.hasContentEtag() ? 0 : version.lastModified().getEpochSecond();
        return new Version(version.etag(), version.size(), second);
    }
}
