package io.penstock.filesystem;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.kernel.Inherited;
import io.penstock.metadata.Directory;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The directories of inherited inodes, whose places are known by the numbers of their parents. Not thread-safe. */
final class InheritedPlaces {
    private final Map<Long, Inherited.Node> nodes = new HashMap<>();
    private final Map<Long, Directory> directories = new HashMap<>();

    InheritedPlaces(List<Inherited.Node> inherited, Directory root) {
        inherited.stream().filter(Inherited.Node::isDirectory).forEach(node -> nodes.put(node.number(), node));
        directories.put(FileSystem.ROOT, root);
    }

    /** The directory that the inode is in. */
    Directory parent(Inherited.Node node) throws ErrnoException {
        Directory known = directories.get(node.parent());
        if (known != null) {
            return known;
        }
        Inherited.Node parent = nodes.remove(node.parent()); // so that a circle ends
        if (parent == null) {
            throw new ErrnoException(Errno.ESTALE, "inode " + node.number() + " is in no known directory");
        }
        Directory found = parent(parent).child(parent.name());
        directories.put(parent.number(), found);
        return found;
    }
}
