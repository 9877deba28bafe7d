package io.penstock.filesystem.kernel;

import io.penstock.core.ObjectVersion;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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
     * @param hasName whether it still has this name; once it was removed or given to another, this was the last
     * @param lookups the kernel's lookup count
     */
    public record Node(long number, long parent, String name, boolean hasName, boolean isDirectory, long lookups) {}

    /**
     * An open file.
     *
     * @param flags open(2)'s
     * @param isCached whether it uses the kernel's pages of the inode, or is passed through
     * @param backing the id of the file that it is passed through to; 0 if it is not
     * @param content the number of its written content; 0 if it reads a version
     * @param version the version that it reads; null if its content is written
     */
    public record File(
            long handle,
            long node,
            int flags,
            boolean isCached,
            int backing,
            long content,
            @Nullable ObjectVersion version) {}

    /**
     * An open directory, which the kernel asks for each time.
     *
     * @param names the names that were returned since its start, by the offset that follows each, from 3 on
     */
    public record Directory(long handle, long node, Map<Long, String> names) {}
}
