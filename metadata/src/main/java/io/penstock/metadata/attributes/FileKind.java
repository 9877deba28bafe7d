package io.penstock.metadata.attributes;

import org.jspecify.annotations.Nullable;

/** What an object stands for. All but regular files are empty objects. */
public enum FileKind {
    REGULAR(0100000),
    SYMLINK(0120000),
    FIFO(0010000),
    SOCKET(0140000),
    /** A device that transfers characters; it opens nothing, as every mount is nodev. */
    CHARACTER(0020000),
    /** A device that transfers blocks; likewise. */
    BLOCK(0060000);

    /** The bits of st_mode that tell the type: stat(2), S_IFMT. */
    public static final int TYPE_BITS = 0170000;

    private final int typeBits;

    FileKind(int typeBits) {
        this.typeBits = typeBits;
    }

    /** The kind by the type bits of st_mode; none of them stand for a regular file, as mknod(2) has it. */
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
