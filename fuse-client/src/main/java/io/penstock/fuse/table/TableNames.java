package io.penstock.fuse.table;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The inodes of a {@link TableState} and their names. Not thread-safe. */
final class TableNames {
    /** The root, which has neither a name nor a lookup count. */
    private static final long ROOT = 1;

    private final Map<Long, Node> nodes = new HashMap<>();
    private long last = ROOT;

    /** The number of nodes in each directory, by its number, with those that have lost their names. */
    private final Map<Long, Integer> children = new HashMap<>();

    /** The nodes that have the names. Of several nodes of one place, the last has it: {@code InodeTable.inherit}. */
    private final Map<Place, Node> named = new HashMap<>();

    record Place(long parent, String name) {}

    /** An inode. It stays while it has lookups or others are in it. */
    static final class Node {
        final long number;
        final boolean isDirectory;
        Place place;
        boolean hasName;
        long lookups;

        Node(long number, Place place, int bits) {
            this.number = number;
            this.place = place;
            this.isDirectory = (bits & KernelTable.IS_DIRECTORY) != 0;
            this.hasName = (bits & KernelTable.HAS_NAME) != 0;
        }

        int bits() {
            return (isDirectory ? KernelTable.IS_DIRECTORY : 0) | (hasName ? KernelTable.HAS_NAME : 0);
        }
    }

    /** Null if it is not known. */
    @Nullable
    Node get(long number) {
        return nodes.get(number);
    }

    Collection<Node> all() {
        return nodes.values();
    }

    /** No inode had a higher number. */
    long last() {
        return last;
    }

    void startAfter(long number) {
        last = Math.max(last, number);
    }

    void add(Node node) {
        startAfter(node.number);
        nodes.put(node.number, node);
        children.merge(node.place.parent, 1, Integer::sum);
        if (node.hasName) {
            named.merge(node.place, node, (one, other) -> one.number > other.number ? one : other);
        }
    }

    void removed(Place place) {
        Node node = named.remove(place);
        if (node != null) {
            node.hasName = false;
        }
    }

    /** Does nothing if it was recorded before: a request may be sent again. */
    void moved(Place from, Place to) {
        Node node = named.get(from);
        if (node == null || from.equals(to)) {
            return;
        }
        removed(to);
        named.remove(from);
        named.put(to, node);
        node.place = to;
        children.merge(to.parent, 1, Integer::sum);
        left(from.parent);
    }

    void forget(long number, long lookups) {
        Node node = nodes.get(number);
        if (node != null) {
            node.lookups -= lookups;
            removeUnused(node);
        }
    }

    private void removeUnused(Node node) {
        if (node.lookups <= 0 && !children.containsKey(node.number)) {
            nodes.remove(node.number);
            named.remove(node.place, node);
            left(node.place.parent);
        }
    }

    /** A node has left this directory. */
    private void left(long directory) {
        Node node = nodes.get(directory);
        if (children.merge(directory, -1, (count, less) -> count + less == 0 ? null : count + less) == null
                && node != null) {
            removeUnused(node);
        }
    }
}
