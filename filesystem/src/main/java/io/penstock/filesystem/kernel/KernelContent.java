package io.penstock.filesystem.kernel;

import io.penstock.core.ObjectVersion;
import io.penstock.metadata.LiveFile;

/** The source of the kernel's attributes, pages or listing of an inode. Plain values: a later process can read them. */
public sealed interface KernelContent {
    /**
     * A version of an object, as the components of its {@link ObjectVersion#identity}: the kernel asks too often to
     * build that string each time.
     *
     * @param second when it was written, since the epoch; 0 where the ETag alone identifies the content
     */
    record Version(String etag, long size, long second) implements KernelContent {
        // FNV-1a, 64 bits: draft-eastlake-fnv, section 5.
        private static final long OFFSET_BASIS = 0xcbf29ce484222325L;
        private static final long PRIME = 0x100000001b3L;

        /** Two versions of one object have the same fingerprint with a probability of 2^-64. */
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
     * Content that is being written here, and is not a version.
     *
     * @param file the number of a {@code SharedFile}
     */
    record Written(long file) implements KernelContent {}

    /** A listing of a directory. */
    record Listing(String generation) implements KernelContent {}

    /** A listing whose parts are from several generations. */
    Listing MIXED = new Listing("");

    /** A file that reports which of its content the kernel may have. */
    interface Holder extends LiveFile {
        /** Its current content, from the kernel's point of view. */
        KernelContent kernelContent();
    }

    static Version of(ObjectVersion version) {
        long second = version.hasContentEtag() ? 0 : version.lastModified().getEpochSecond();
        return new Version(version.etag(), version.size(), second);
    }
}
