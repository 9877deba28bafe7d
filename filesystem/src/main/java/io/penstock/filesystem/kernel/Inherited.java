package io.penstock.filesystem.kernel;

import io.penstock.core.ObjectVersion;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * What a kernel holds of a mount whose process has ended: it goes on using these numbers with the successor.
 *
 * @param nodes in the order of their numbers
 * @param lastNode no inode had a higher number
 * @param lastHandle no handle had a higher number
 */
public record Inherited(
        List<Node> nodes, List<File> files, List<Directory> directories, long lastNode, long lastHandle) {
    /**
     * An inode other than the root.
     *
     * @param parent the number of its directory; one that the kernel has forgotten has no lookups
     * @param lookups the kernel's lookup count
     */
    public record Node(long number, long parent, String name, boolean isDirectory, long lookups) {}

    /**
     * An open file, on the version of its object that it was opened on; the key is that of its inode.
     *
     * @param isCached whether it uses the kernel's pages of the inode, or is passed through
     * @param backing the id of the file that it is passed through to; 0 if it is not
     * @param time the store's time of the write
     */
    public record File(long handle, long node, boolean isCached, int backing, String etag, long size, Instant time) {
        /** The version by the key of its inode. */
        public ObjectVersion version(String key) {
            return new ObjectVersion(key, etag, size, time);
        }
    }

    /**
     * An open directory, which the kernel asks for each time.
     *
     * @param names the names that were returned since its start, by the offset that follows each, from 3 on
     */
    public record Directory(long handle, long node, Map<Long, String> names) {}
}
