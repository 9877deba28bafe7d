package io.penstock.metadata.attributes;

/** What an object stands for. All but regular files are empty objects. */
public enum FileKind {
    REGULAR(0100000),
    SYMLINK(0120000),
    FIFO(0010000),
    SOCKET(0140000);

    /** The bits of st_mode that tell the type: stat(2), S_IFMT. */
    public static final int TYPE_BITS = 0170000;

    private final int typeBits;

    FileKind(int typeBits) {
        this.typeBits = typeBits;
    }

    /** As in st_mode. */
    public int typeBits() {
        return typeBits;
    }
}
