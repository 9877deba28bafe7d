package io.penstock.filesystem;

import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.names.NodeResolver;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Node;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Files and their copies made by link(2), while programs inspect its result: git compares the inode numbers, locks
 * count the links. For some seconds both show the file's number and two links, unless one of them is changed, removed
 * or renamed first (ADR 32). Thread-safe.
 */
final class RecentLinks {
    private static final Duration SHOWN = Duration.ofSeconds(10);

    private record Link(long file, ObjectVersion content, long copy, ObjectVersion copied, long end) {
        boolean isOver() {
            return System.nanoTime() - end >= 0;
        }
    }

    private final NodeResolver resolver;

    /** By the numbers of both; for a file with several, its last. */
    private final Map<Long, Link> byInode = new ConcurrentHashMap<>();

    private final Queue<Link> oldestFirst = new ConcurrentLinkedQueue<>();

    RecentLinks(NodeResolver resolver) {
        this.resolver = resolver;
    }

    /** The store's content of the inode's file: null if it is being changed. May ask the store. */
    @Nullable
    ObjectVersion version(long inode) throws ErrnoException {
        return version(resolver.node(inode));
    }

    private static @Nullable ObjectVersion version(@Nullable Node node) {
        return switch (node) {
            case FileEntry(var object) -> object.version();
            case SharedFile file when file.links() > 0 -> file.version();
            case null, default -> null;
        };
    }

    /** @param before {@link #version} of the file before it was copied: if it has changed since, the two differ */
    void linked(long file, @Nullable ObjectVersion before, long copy) {
        ObjectVersion content;
        ObjectVersion copied;
        try {
            content = before == null ? version(file) : before;
            copied = version(copy);
        } catch (ErrnoException e) {
            return; // the link is made anyway
        }
        if (content == null || copied == null || isChanged(file, content)) {
            return;
        }
        for (Link old = oldestFirst.peek(); old != null && old.isOver(); old = oldestFirst.peek()) {
            oldestFirst.remove(old);
            end(old);
        }
        Link link = new Link(file, content, copy, copied, System.nanoTime() + SHOWN.toNanos());
        oldestFirst.add(link);
        byInode.put(file, link);
        byInode.put(copy, link);
    }

    /** The inode's file is about to change: from now on the two are shown as two files. */
    void end(long inode) {
        Link link = byInode.get(inode);
        if (link != null) {
            end(link);
        }
    }

    private void end(Link link) {
        byInode.remove(link.file, link);
        byInode.remove(link.copy, link);
    }

    /** What stat(2) shows of the node. While it belongs to a link, the kernel must ask each time. */
    Attributes shown(Attributes attributes, Node node) {
        Link link = byInode.get(attributes.inode());
        if (link == null) {
            return attributes;
        }
        ObjectVersion own = attributes.inode() == link.file ? link.content : link.copied;
        if (link.isOver()
                || !own.equals(version(node))
                || isChanged(link.file, link.content)
                || isChanged(link.copy, link.copied)) {
            end(link);
            return attributes;
        }
        return attributes.linked(link.file);
    }

    /** Whether it is known to be changed. If nothing is known of it, this mount has not changed it. */
    private boolean isChanged(long inode, ObjectVersion version) {
        try {
            Node node = resolver.nodeNow(inode);
            return node != null && !version.equals(version(node));
        } catch (ErrnoException e) {
            return true; // removed
        }
    }
}
