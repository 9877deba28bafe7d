package io.penstock.metadata.attributes;

import org.jspecify.annotations.Nullable;

/** What an object represents. All except regular files are empty objects. */
public enum FileKind {
    REGULAR(0100000),
    SYMLINK(0120000),
    FIFO(0010000),
    SOCKET(0140000),
    /** A character device; it opens nothing, because every mount is nodev. */
    CHARACTER(0020000),
    /** A block device; likewise. */
    BLOCK(0060000);

    /** The bits of st_mode that give the type: stat(2), S_IFMT. */
    public static final int TYPE_BITS = 0170000;

    private final int typeBits;

    FileKind(int typeBits) {
        this.typeBits = typeBits;
    }

    /** The kind by the type bits of st_mode; no bits mean a regular file, as in mknod(2). */
    public static @Nullable FileKind of(int typeBits) {
        if (typeBits == 0) {
            return REGULAR;
        }
        for (FileKind kind : values()) {
            if (kind.typeBits == typeBits) {
                return kind;
            }
        }
        return null;
    }

    /** As in st_mode. */
    public int typeBits() {
        return typeBits;
    }
}
