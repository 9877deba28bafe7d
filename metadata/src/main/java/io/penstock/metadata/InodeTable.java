package io.penstock.metadata;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.metadata.Inode.Place;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The inodes in use: looked up by the kernel and not forgotten yet, or open. Numbers increase and are not reused for
 * another file. A name that is looked up again soon after it was forgotten gets its number back. A file whose name
 * becomes a directory's (or the other way round) gets another inode. So does a new file in the place of a removed one,
 * and one that takes the name of a {@linkplain #retire retired} inode.
 *
 * <p>Some 250 bytes of heap each, because the kernel may know millions of names: no path, key or object is kept.
 *
 * <p>Safe for use by any number of threads.
 */
public final class InodeTable {
    /** The root's number: FUSE_ROOT_ID in include/uapi/linux/fuse.h. */
    public static final long ROOT = 1;

    /** The number of forgotten inodes that may get their number back: some 200 bytes each. */
    private static final int REMEMBERED = 50_000;

    /** The maximum number of inodes that {@link #coldest} checks for each inode requested. */
    private static final int LOOKED_AT = 16;

    /** The directory of inodes without a place: no path can be there. */
    private static final Directory NOWHERE = new Directory("\0/");

    private final Inode root;
    private final AtomicLong lastNumber = new AtomicLong(ROOT);
    private final ConcurrentMap<Long, Inode> byNumber = new ConcurrentHashMap<>();

    /** A file and a directory of one name share a place. Keys are the inodes' own places: no other path is kept. */
    private final ConcurrentMap<Place, Inode> byPlace = new ConcurrentHashMap<>();

    private final Cache<Place, Inode> forgotten = Caffeine.newBuilder()
            .maximumSize(REMEMBERED)
            .executor(Runnable::run)
            .build();

    /** Where the next call of {@link #coldest} continues. */
    @GuardedBy("this")
    private long cursor = ROOT;

    public InodeTable(Directory root) {
        this.root = new Inode(ROOT, null, root);
    }

    /**
     * An inode that an earlier process of this mount gave to the kernel, with this many references. Of several inodes
     * of one place, the last has the name, and the others are retired.
     *
     * @param hasName whether the place is still its own
     */
    public Inode inherit(long number, Place place, boolean hasName, boolean isDirectory, long references) {
        Directory directory = isDirectory ? place.parent().child(place.name()) : null;
        Inode inode = new Inode(number, hasName ? place : null, directory);
        inode.references = references;
        byNumber.put(number, inode);
        if (hasName) {
            byPlace.put(place, inode);
        }
        return inode;
    }

    /** New inodes get numbers above this one. */
    public void startAfter(long number) {
        lastNumber.accumulateAndGet(number, Math::max);
    }

    /** The inode with this number; null if it is not in use. */
    public @Nullable Inode get(long number) {
        return number == ROOT ? root : byNumber.get(number);
    }

    /** The inode with this name; null if none is in use. */
    public @Nullable Inode find(Directory parent, String name) {
        return byPlace.get(new Place(parent, name));
    }

    /** The inode of this directory; null if it is not in use. */
    public @Nullable Inode find(Directory directory) {
        if (directory.equals(root.directory())) {
            return root;
        }
        Inode inode = byPlace.get(Place.of(directory));
        return inode == null || !inode.isDirectory() ? null : inode;
    }

    /** The inode of this place, with one more reference. */
    public Inode acquire(Directory parent, String name, Node node) {
        return acquireAt(parent, name, node instanceof Directory itself ? itself : null);
    }

    /** The inode of this file, with one more reference. */
    public Inode acquireFile(Directory parent, String name) {
        return acquireAt(parent, name, null);
    }

    private Inode acquireAt(Directory parent, String name, @Nullable Directory directory) {
        return byPlace.compute(new Place(parent, name), (place, known) -> {
            Inode current = known;
            if (current == null || current.isDirectory() != (directory != null)) {
                current = revive(place, directory);
                byNumber.put(current.number(), current);
            }
            current.references++;
            return current;
        });
    }

    /** Adds a reference to an inode in use. */
    public void acquire(Inode inode) {
        update(inode, (_, current) -> {
            inode.references += isInUse(inode) ? 1 : 0;
            return current;
        });
    }

    private boolean isInUse(Inode inode) {
        return byNumber.containsKey(inode.number());
    }

    /** From now on the name refers to another inode, which the next lookup creates. This one keeps its references. */
    public void retire(Inode inode) {
        update(inode, (_, current) -> current == inode ? null : current);
    }

    /** The name of an inode in use refers to that inode again. A newer inode of the name is retired. */
    public void restore(Inode inode) {
        update(inode, (_, current) -> inode.place() != null && isInUse(inode) ? inode : current);
    }

    /** Removes references. An inode without references is no longer in use. The root stays. */
    public void release(Inode inode, long references) {
        update(inode, (place, current) -> {
            if (!isInUse(inode)) {
                return current;
            }
            inode.references -= references;
            if (inode.references > 0) {
                return current;
            }
            inode.references = 0;
            inode.forget();
            byNumber.remove(inode.number());
            if (current != inode) {
                return current; // it has no name, or an inode of the other kind has taken the place
            }
            forgotten.put(place, inode);
            return null;
        });
    }

    /**
     * Inodes that have long been in use. Each call continues with those that came into use later, and starts again
     * after the last.
     *
     * @param most above 0; fewer are returned if few of the next numbers are in use, or their inodes {@code suit}
     */
    public synchronized List<Inode> coldest(int most, Predicate<Inode> suit) {
        List<Inode> found = new ArrayList<>();
        long last = lastNumber.get();
        boolean anyInUse = false;
        for (int looked = 0; looked < most * LOOKED_AT && found.size() < most; looked++) {
            cursor = cursor < last ? cursor + 1 : ROOT + 1;
            Inode inode = byNumber.get(cursor);
            anyInUse |= inode != null;
            if (inode != null && suit.test(inode)) {
                found.add(inode);
            }
        }
        if (!anyInUse) {
            cursor = nextInUse(cursor) - 1; // the kernel may have forgotten millions in a row
        }
        return found;
    }

    /** The lowest number in use above this one; if there is none, the lowest of all. Scans all inodes. */
    private long nextInUse(long number) {
        return byNumber.keySet().stream()
                .mapToLong(Long::longValue)
                .filter(each -> each > number)
                .min()
                .orElse(ROOT + 1);
    }

    /** The inode, in use or not, has lost its name. */
    public void detach(Inode inode) {
        leave(inode, null);
    }

    /** The inode is renamed. An inode that had the new name is detached. */
    public void move(Inode inode, Directory parent, String name) {
        Inode displaced = find(parent, name);
        if (displaced != null) {
            detach(displaced);
        }
        Place place = new Place(parent, name);
        forgotten.invalidate(place);
        leave(inode, place);
        update(inode, (_, current) -> isInUse(inode) ? inode : current);
    }

    /**
     * The directory was renamed: its inode and those of all directories below it get their new names. So do the files
     * below it whose keys {@code isMoved} accepts; the others keep their names.
     */
    public void move(Directory from, Directory to, Predicate<String> isMoved) {
        forgotten.asMap().keySet().removeIf(place -> isWithin(place, from) || isWithin(place, to));
        Set<Inode> moved = new HashSet<>();
        List<Inode> found;
        do { // a lookup may add another inode to a directory that has not moved yet
            found = within(from, isMoved);
            for (Inode inode : found) {
                move(inode, from, to, moved);
            }
        } while (!found.isEmpty());
    }

    private List<Inode> within(Directory from, Predicate<String> isMoved) {
        List<Inode> found = new ArrayList<>();
        byPlace.forEach((place, inode) -> {
            Directory directory = inode.directory();
            if (directory == null ? isWithin(place, from) && isMoved.test(place.key()) : directory.isWithin(from)) {
                found.add(inode);
            }
        });
        return found;
    }

    /** @param moved those moved before: if one has the new place, this inode is from a later lookup of the old name */
    private void move(Inode inode, Directory from, Directory to, Set<Inode> moved) {
        Place place = inode.place();
        Directory before = inode.directory();
        if (place != null && (isWithin(place, from) || from.equals(before))) {
            Place next = from.equals(before)
                    ? Place.of(to)
                    : new Place(place.parent().moved(from, to), place.name());
            if (moved.contains(byPlace.get(next))) {
                detach(inode);
            } else {
                move(inode, next.parent(), next.name());
                moved.add(inode);
            }
        }
    }

    private static boolean isWithin(Place place, Directory directory) {
        return place.parent().isWithin(directory);
    }

    private void leave(Inode inode, @Nullable Place to) {
        update(inode, (place, current) -> {
            forgotten.asMap().remove(place, inode);
            inode.move(to);
            return current == inode ? null : current;
        });
    }

    /**
     * Changes the entry of byPlace at the inode's place, under that entry's lock, so the inode does not move meanwhile.
     */
    private void update(Inode inode, BiFunction<Place, @Nullable Inode, @Nullable Inode> change) {
        if (inode.isRoot()) {
            return;
        }
        boolean[] done = new boolean[1];
        while (!done[0]) {
            byPlace.compute(place(inode), (place, current) -> {
                if (!place.equals(place(inode))) {
                    return current; // it has moved since
                }
                done[0] = true;
                return change.apply(place, current);
            });
        }
    }

    /** The key of the inode in byPlace. */
    private static Place place(Inode inode) {
        Place place = inode.place();
        return place == null ? new Place(NOWHERE, Long.toString(inode.number())) : place;
    }

    /** The number of inodes in use, without the root. */
    public int size() {
        return byNumber.size();
    }

    private Inode revive(Place place, @Nullable Directory directory) {
        Inode known = forgotten.asMap().remove(place);
        if (known != null && known.isDirectory() == (directory != null)) {
            return known;
        }
        return new Inode(lastNumber.incrementAndGet(), place, directory);
    }
}
