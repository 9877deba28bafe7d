package io.penstock.fuse.jnr;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.LongConsumer;

/**
 * Keeps inodes in use for as long as the kernel probably knows them. libfuse 2 passes names, not inodes, and never
 * reports that the kernel forgot one. So this holds one lookup of each recently used inode. Otherwise an inode's number
 * would change, and the next open could not tell whether the kernel's pages of it are current.
 */
final class HeldLookups {
    /**
     * The maximum number of held inodes. Dropping an inode too early costs a page cache; holding it too long costs some
     * hundred bytes.
     */
    private static final int CAPACITY = 65_536;

    private final LongConsumer forgetOne;
    private final int capacity;

    /** The inodes, the most recently used one last; one lookup of each is held. */
    @GuardedBy("this")
    private final Map<Long, Boolean> held = new LinkedHashMap<>(16, 0.75f, true);

    /** @param forgetOne forgets one lookup of an inode */
    HeldLookups(LongConsumer forgetOne) {
        this(forgetOne, CAPACITY);
    }

    HeldLookups(LongConsumer forgetOne, int capacity) {
        this.forgetOne = forgetOne;
        this.capacity = capacity;
    }

    /** Takes over one lookup of this inode. */
    void hold(long inode) {
        take(inode).ifPresent(forgetOne);
    }

    /** @return an inode of which one lookup too many is held now */
    private synchronized OptionalLong take(long inode) {
        if (held.put(inode, Boolean.TRUE) != null) {
            return OptionalLong.of(inode);
        }
        if (held.size() <= capacity) {
            return OptionalLong.empty();
        }
        Iterator<Long> oldestFirst = held.keySet().iterator();
        long oldest = oldestFirst.next();
        oldestFirst.remove();
        return OptionalLong.of(oldest);
    }

    /** Forgets all held lookups. */
    void releaseAll() {
        List<Long> all;
        synchronized (this) {
            all = List.copyOf(held.keySet());
            held.clear();
        }
        all.forEach(forgetOne::accept);
    }
}
