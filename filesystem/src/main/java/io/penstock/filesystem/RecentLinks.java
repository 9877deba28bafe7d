package io.penstock.filesystem;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.names.NodeResolver;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Node;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Files and the copies that link(2) has made of them, as long as programs look at what it did: git compares the inode
 * numbers, locks count the links. For some seconds both show the file's number and two links, unless one of them is
 * changed, removed or renamed before (ADR 32). Safe for use by any number of threads.
 */
final class RecentLinks {
    private static final Duration SHOWN = Duration.ofSeconds(10);

    /** One of the two names, as it was when they were linked. */
    private record Name(long inode, ObjectVersion version) {}

    private record Link(Name file, Name copy, long end) {
        Name name(long inode) {
            return inode == file.inode ? file : copy;
        }

        Name other(long inode) {
            return inode == file.inode ? copy : file;
        }

        boolean isShown() {
            return System.nanoTime() - end < 0;
        }
    }

    private final InodeTable inodes;
    private final NodeResolver resolver;

    /** By the numbers of both; of a file with several, its last. */
    private final Map<Long, Link> byInode = new ConcurrentHashMap<>();

    @GuardedBy("this")
    private final Deque<Link> oldestFirst = new ArrayDeque<>();

    RecentLinks(InodeTable inodes, NodeResolver resolver) {
        this.inodes = inodes;
        this.resolver = resolver;
    }

    /** The content that the store has of the inode's file: null if it is not known, or is being changed. */
    @Nullable
    ObjectVersion version(long inode) {
        try {
            return version(resolver.nodeNow(inode));
        } catch (ErrnoException e) {
            return null;
        }
    }

    private static @Nullable ObjectVersion version(@Nullable Node node) {
        return switch (node) {
            case FileEntry(var object) -> object.version();
            case SharedFile file -> file.version();
            case null, default -> null;
        };
    }

    /** @param before {@link #version} of the file before it was copied: if it has changed since, the two are not alike */
    void linked(long inode, @Nullable ObjectVersion before, long copy) {
        Name file = name(inode);
        Name copied = name(copy);
        if (file == null || copied == null || (before != null && !before.equals(file.version))) {
            return;
        }
        Link link = new Link(file, copied, System.nanoTime() + SHOWN.toNanos());
        synchronized (this) {
            for (Link old = oldestFirst.peek(); old != null && !old.isShown(); old = oldestFirst.peek()) {
                oldestFirst.remove();
                end(old);
            }
            oldestFirst.add(link);
        }
        byInode.put(inode, link);
        byInode.put(copy, link);
    }

    private @Nullable Name name(long inode) {
        ObjectVersion version = version(inode);
        return version == null ? null : new Name(inode, version);
    }

    /** The inode's file is about to be changed: from now on the two are shown as two. */
    void end(long inode) {
        Link link = byInode.get(inode);
        if (link != null) {
            end(link);
        }
    }

    private void end(Link link) {
        byInode.remove(link.file.inode, link);
        byInode.remove(link.copy.inode, link);
    }

    /** What stat(2) shows of the node: the kernel is to ask for it each time as long as it is of a link. */
    Attributes shown(Attributes attributes, Node node) {
        Link link = byInode.get(attributes.inode());
        if (link == null) {
            return attributes;
        }
        Name other = link.other(attributes.inode());
        boolean isUnchanged = link.name(attributes.inode()).version.equals(version(node));
        if (!link.isShown() || !isUnchanged || !isInPlace(link.file) || !isInPlace(link.copy) || isChanged(other)) {
            end(link);
            return attributes;
        }
        return attributes.linked(link.file.inode);
    }

    private boolean isInPlace(Name name) {
        Inode inode = inodes.get(name.inode);
        Place place = inode == null ? null : inode.place();
        return place != null && place.key().equals(name.version.key());
    }

    /** Whether it is known to be changed: where nothing is known of it any more, this mount has not changed it. */
    private boolean isChanged(Name name) {
        try {
            Node node = resolver.nodeNow(name.inode);
            return node != null && !name.version.equals(version(node));
        } catch (ErrnoException e) {
            return true; // removed
        }
    }
}
