package io.penstock.filesystem.kernel;

import io.penstock.core.ObjectVersion;
import io.penstock.metadata.LiveFile;

/** What an inode's attributes, pages or listing in the kernel are of. Numbers and names: a later process can read them. */
public sealed interface KernelContent {
    /** A version of an object. */
    record Version(String identity, long size) implements KernelContent {
        // FNV-1a, 64 bits: draft-eastlake-fnv, section 5.
        private static final long OFFSET_BASIS = 0xcbf29ce484222325L;
        private static final long PRIME = 0x100000001b3L;

        /** Two versions of one object have the same with a chance of 2^-64. */
        long fingerprint() {
            long hash = OFFSET_BASIS;
            for (int i = 0; i < identity.length(); i++) {
                hash = (hash ^ identity.charAt(i)) * PRIME;
            }
            for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
                hash = (hash ^ (size >>> shift & 0xff)) * PRIME;
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
        return new Version(version.identity(), version.size());
    }
}
