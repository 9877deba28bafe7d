package io.penstock.fuse.table;

/** An entry in the reply to a READDIR or READDIRPLUS. */
public final class ListedName {
    final long offset;
    final long node;
    final boolean isDirectory;
    final byte[] name;

    /**
     * @param offset the offset that follows it
     * @param node the inode that was looked up with it; 0 for none
     * @param name not copied
     */
    public ListedName(long offset, long node, boolean isDirectory, byte[] name) {
        this.offset = offset;
        this.node = node;
        this.isDirectory = isDirectory;
        this.name = name;
    }
}
