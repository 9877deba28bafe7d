package io.penstock.metadata;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.Printable;
import org.jspecify.annotations.Nullable;

/**
 * A numbered file or directory. A rename moves it, and an unlink takes away its place. The object at its place may
 * change: see {@link Tree#lookup}. Safe for use by any number of threads.
 */
public final class Inode {
    private final long number;

    /** Null for a file. Changed only by {@link InodeTable}, together with the place. */
    private volatile @Nullable Directory directory;

    /** Changed only by {@link InodeTable}, under the lock of the inode's place. */
    private volatile @Nullable Place place;

    /** Lookups and opens; 0 while the inode is not in use. {@link InodeTable} guards it with the lock of the place. */
    long references;

    /** Null if nothing is known. Written with the monitor held. */
    private volatile @Nullable KernelState kernelState;

    /** The place of an inode: its directory, and its name there. */
    public record Place(Directory parent, String name) {
        public String key() {
            return parent.key(name);
        }

        /** The place of a directory other than a bucket's root. */
        public static Place of(Directory directory) {
            return of(directory.prefix().substring(0, directory.prefix().length() - 1));
        }

        /** The place of an object's key. */
        public static Place of(String key) {
            int slash = key.lastIndexOf('/') + 1;
            return new Place(new Directory(key.substring(0, slash)), key.substring(slash));
        }
    }

    Inode(long number, @Nullable Place place, @Nullable Directory directory) {
        this.number = number;
        this.place = place;
        this.directory = directory;
    }

    /** Never given to another inode within a mount. */
    public long number() {
        return number;
    }

    public boolean isRoot() {
        return number == InodeTable.ROOT;
    }

    /** Null if it no longer has a place, and for the root. */
    public @Nullable Place place() {
        return place;
    }

    /** A directory without a place keeps its prefix, by which open handles know it. */
    void move(@Nullable Place to) {
        place = to;
        if (directory != null && to != null) {
            directory = to.parent().child(to.name());
        }
    }

    /** The kernel's state of this inode; null if unknown. */
    public @Nullable KernelState kernelState() {
        return kernelState;
    }

    /** Changes the kernel's state of it. A caller that depends on the previous state holds the monitor for both. */
    @GuardedBy("this")
    public void kernelState(@Nullable KernelState next) {
        kernelState = next;
    }

    /** The inode is no longer in use. */
    synchronized void forget() {
        KernelState before = kernelState;
        kernelState = before == null ? null : before.forgotten();
    }

    /** The directory that this inode represents; null if it is a file. */
    public @Nullable Directory directory() {
        return directory;
    }

    public boolean isDirectory() {
        return directory != null;
    }

    /** For messages. */
    @Override
    public String toString() {
        Place at = place;
        return at == null ? "inode " + number : "'" + Printable.text(at.key()) + "'";
    }
}
