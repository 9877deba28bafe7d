package io.penstock.metadata;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.metadata.Inode.Place;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The inodes that are in use: looked up by the kernel and not forgotten yet, or open. Numbers go up and are not reused
 * for another file; a name that is looked up again soon after it was forgotten has its number back. A file whose name
 * has become a directory's (or the other way round) is another one, and so is what is made where something was
 * removed, or takes the name of one that was {@linkplain #retire retired}.
 *
 * <p>Safe for use by any number of threads.
 */
public final class InodeTable {
    /** The root's number: FUSE_ROOT_ID in include/uapi/linux/fuse.h. */
    public static final long ROOT = 1;

    /** Forgotten inodes that may have their number back: some 200 bytes each. */
    private static final int REMEMBERED = 50_000;

    private static final class Held {
        final Inode inode;
        /** Lookups and opens. Guarded by byPath's lock on the inode's path: changed within {@link #update} only. */
        long references;

        /**
         * What was last shown of it, which may be believed elsewhere; null if nothing is. Racy on purpose: between an
         * answer and its note here a {@link #retract} may be missed, and then the answer is believed for its time.
         */
        volatile @Nullable Node shown;

        Held(Inode inode) {
            this.inode = inode;
        }
    }

    private final Inode root;
    private final AtomicLong lastNumber = new AtomicLong(ROOT);
    private final ConcurrentMap<Long, Held> byNumber = new ConcurrentHashMap<>();
    /** By key without a slash behind it, which a file and a directory of one name share. */
    private final ConcurrentMap<String, Held> byPath = new ConcurrentHashMap<>();

    private final Cache<String, Inode> forgotten = Caffeine.newBuilder()
            .maximumSize(REMEMBERED)
            .executor(Runnable::run)
            .build();

    public InodeTable(Directory root) {
        this.root = new Inode(ROOT, null, root);
    }

    /** The inode with this number: null if it is not in use. */
    public @Nullable Inode get(long number) {
        if (number == ROOT) {
            return root;
        }
        Held held = byNumber.get(number);
        return held == null ? null : held.inode;
    }

    /** The inode of what has this name: null if none is in use. */
    public @Nullable Inode find(Directory parent, String name) {
        Held held = byPath.get(parent.key(name));
        return held == null ? null : held.inode;
    }

    /** The inode of this directory: null if it is not in use. */
    public @Nullable Inode find(Directory directory) {
        if (directory.equals(root.directory())) {
            return root;
        }
        Held held =
                byPath.get(directory.prefix().substring(0, directory.prefix().length() - 1));
        return held == null || !held.inode.isDirectory() ? null : held.inode;
    }

    /** The inode of this place, with one more reference; {@code node} is shown of it. */
    public Inode acquire(Directory parent, String name, Node node) {
        return acquireAt(parent, name, node instanceof Directory itself ? itself : null, node);
    }

    /** The same of a file. */
    public Inode acquireFile(Directory parent, String name) {
        return acquireAt(parent, name, null, null);
    }

    private Inode acquireAt(Directory parent, String name, @Nullable Directory directory, @Nullable Node shown) {
        Held acquired = byPath.compute(parent.key(name), (path, held) -> {
            Held current = held;
            if (current == null || current.inode.isDirectory() != (directory != null)) {
                current = new Held(revive(path, parent, name, directory));
                byNumber.put(current.inode.number(), current);
            }
            current.references++;
            current.shown = shown;
            return current;
        });
        return acquired.inode;
    }

    /** One more reference to an inode that is in use. */
    public void acquire(Inode inode) {
        update(inode, (_, current) -> {
            Held held = byNumber.get(inode.number());
            if (held != null) {
                held.references++;
            }
            return current;
        });
    }

    /** The name stands for another inode from now on, made when it is looked up next; this one keeps its references. */
    public void retire(Inode inode) {
        update(inode, (_, current) -> current != null && current.inode == inode ? null : current);
    }

    /** The name of an inode that is in use stands for it again: one that has come about since is retired. */
    public void restore(Inode inode) {
        update(inode, (_, current) -> {
            Held held = inode.place() == null ? null : byNumber.get(inode.number());
            return held == null ? current : held;
        });
    }

    /** Takes note of what is shown of an inode that is in use. */
    public void show(long number, Node node) {
        Held held = byNumber.get(number);
        if (held != null) {
            held.shown = node;
        }
    }

    /** What was shown of an inode, if it is like that, is something else now that it stands for. */
    public void showIf(Inode inode, Predicate<Node> like, Node node) {
        if (isShown(inode, like)) {
            show(inode.number(), node);
        }
    }

    /** Whether what was last shown of an inode, and not taken back, is like that. */
    public boolean isShown(Inode inode, Predicate<Node> like) {
        Held held = byNumber.get(inode.number());
        Node shown = held == null ? null : held.shown;
        return shown != null && like.test(shown);
    }

    /**
     * Takes back what was shown of an inode if it is wrong.
     *
     * @return whether it was: who believes it is to be told
     */
    public boolean retract(Inode inode, Predicate<Node> isWrong) {
        Held held = byNumber.get(inode.number());
        Node shown = held == null ? null : held.shown;
        if (held == null || shown == null || !isWrong.test(shown)) {
            return false;
        }
        held.shown = null;
        return true;
    }

    /** Takes references off; without any, the inode goes out of use. The root stays. */
    public void release(Inode inode, long references) {
        update(inode, (path, current) -> {
            Held held = byNumber.get(inode.number());
            if (held == null) {
                return current;
            }
            held.references -= references;
            if (held.references > 0) {
                return current;
            }
            byNumber.remove(inode.number());
            if (current != held) {
                return current; // it has no name, or something of the other kind has taken the path meanwhile
            }
            forgotten.put(path, inode);
            return null;
        });
    }

    /** The inode, in use or not, has lost its name. */
    public void detach(Inode inode) {
        leave(inode, null);
    }

    /** The inode has another name, in place of what had it: that is detached. */
    public void move(Inode inode, Directory parent, String name) {
        Inode displaced = find(parent, name);
        if (displaced != null) {
            detach(displaced);
        }
        forgotten.invalidate(parent.key(name));
        leave(inode, new Place(parent, name));
        update(inode, (_, current) -> {
            Held held = byNumber.get(inode.number());
            return held == null ? current : held;
        });
    }

    private void leave(Inode inode, @Nullable Place to) {
        update(inode, (path, current) -> {
            forgotten.asMap().remove(path, inode);
            inode.move(to);
            return current != null && current.inode == inode ? null : current;
        });
    }

    /** Changes what byPath has at the inode's path, under the lock of that path: the inode does not move meanwhile. */
    private void update(Inode inode, BiFunction<String, @Nullable Held, @Nullable Held> change) {
        if (inode.isRoot()) {
            return;
        }
        boolean[] done = new boolean[1];
        while (!done[0]) {
            byPath.compute(path(inode), (path, current) -> {
                if (!path.equals(path(inode))) {
                    return current; // moved in between
                }
                done[0] = true;
                return change.apply(path, current);
            });
        }
    }

    /** What stands for its path in byPath: of one without a name, something that no path can be. */
    private static String path(Inode inode) {
        Place place = inode.place();
        return place == null ? "\0" + inode.number() : place.key();
    }

    /** Inodes in use, the root not among them. */
    public int size() {
        return byNumber.size();
    }

    private Inode revive(String path, Directory parent, String name, @Nullable Directory directory) {
        Inode known = forgotten.asMap().remove(path);
        if (known != null && known.isDirectory() == (directory != null)) {
            return known;
        }
        return new Inode(lastNumber.incrementAndGet(), new Place(parent, name), directory);
    }
}
