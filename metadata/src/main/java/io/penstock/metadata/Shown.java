package io.penstock.metadata;

import io.penstock.core.ObjectVersion;

/** What was shown of an inode, in few bytes: there is one for each name that the kernel knows. */
public sealed interface Shown {
    /** A directory. */
    enum AnyDirectory implements Shown {
        DIRECTORY
    }

    /**
     * A version of an object.
     *
     * @param fingerprint of its identity and size: two versions of one object have the same with a chance of 2^-64
     */
    record Version(long fingerprint) implements Shown {
        // FNV-1a, 64 bits: draft-eastlake-fnv, section 5.
        private static final long OFFSET_BASIS = 0xcbf29ce484222325L;
        private static final long PRIME = 0x100000001b3L;

        private static long fingerprint(ObjectVersion version) {
            long hash = OFFSET_BASIS;
            String identity = version.identity();
            for (int i = 0; i < identity.length(); i++) {
                hash = (hash ^ identity.charAt(i)) * PRIME;
            }
            for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
                hash = (hash ^ (version.size() >>> shift & 0xff)) * PRIME;
            }
            return hash;
        }

        public boolean isOf(ObjectVersion version) {
            return fingerprint == fingerprint(version);
        }
    }

    /** A file that is open or written here. */
    record Live(LiveFile file) implements Shown {}

    static Shown of(Node node) {
        return switch (node) {
            case Directory _ -> AnyDirectory.DIRECTORY;
            case FileEntry(var object) -> new Version(Version.fingerprint(object.version()));
            case LiveFile live -> new Live(live);
        };
    }
}
