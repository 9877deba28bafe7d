package io.penstock.cache;

import static java.util.Objects.requireNonNull;

import io.penstock.cache.Slab.Chunk;
import io.penstock.cache.disk.PageGeometry;
import io.penstock.core.NativeMemory.UsedUpException;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The slabs of a {@link PageMemory}: allocated one at a time, up to a budget. Guarded by its lock, except for
 * {@link #budgetBytes}.
 */
final class Slabs {
    private static final Logger log = LoggerFactory.getLogger(Slabs.class);

    private final Supplier<Slab> newSlabs;

    /** Slabs with all their memory free. */
    private final ArrayDeque<Slab> whole = new ArrayDeque<>();

    /** Slabs with some of it free; the first that fits is used. */
    private final Set<Slab> partial = new LinkedHashSet<>();

    private int count;

    /** Shrinks if the JVM grants less. Written under the lock. */
    private volatile int max;

    private long handedOutBytes;

    /** Part of {@link #handedOutBytes}. */
    private long keptBytes;

    /** Slabs in {@link #count} that are {@linkplain Slab#isIdle idle}. */
    private int idle;

    /** @param newSlabs throws {@link UsedUpException} if there is no more memory */
    Slabs(long budgetBytes, Supplier<Slab> newSlabs) {
        this.max = slabs(budgetBytes);
        this.newSlabs = newSlabs;
    }

    private static int slabs(long bytes) {
        return Math.toIntExact(bytes / PageGeometry.PAGE_SIZE);
    }

    /** Changes the budget. If it shrinks, excess slabs go as soon as all their memory is free. */
    void setBudget(long bytes) {
        max = slabs(bytes);
        while (count > max && !whole.isEmpty()) {
            Slab _ = whole.pop();
            drop();
        }
    }

    /** May change, so callers must not cache it. */
    long budgetBytes() {
        return (long) max * PageGeometry.PAGE_SIZE;
    }

    /** Bytes of busy and of kept pages. */
    long handedOutBytes() {
        return handedOutBytes;
    }

    long busyBytes() {
        return handedOutBytes - keptBytes;
    }

    /** The chunk's page was busy and is now kept. */
    void keep(Chunk chunk) {
        keptBytes += chunk.size();
        addBusy(chunk.slab(), -1);
    }

    /** The chunk's page was kept and is now busy. */
    void unkeep(Chunk chunk) {
        keptBytes -= chunk.size();
        addBusy(chunk.slab(), 1);
    }

    private void addBusy(Slab slab, int chunks) {
        idle -= slab.isIdle() ? 1 : 0;
        slab.addBusy(chunks);
        idle += slab.isIdle() ? 1 : 0;
    }

    /** Whether evicting kept pages may help: no whole slab can be freed while every slab has a busy page. */
    boolean mayFit(int size) {
        return size < PageGeometry.PAGE_SIZE || idle > 0 || count < max;
    }

    /** Free memory if there is some, else new memory if the budget allows. */
    @Nullable
    Chunk allocate(int size) {
        if (handedOutBytes + size > budgetBytes()) {
            return null;
        }
        Chunk chunk = size == PageGeometry.PAGE_SIZE ? null : firstFit(size);
        if (chunk == null) {
            Slab slab = whole.isEmpty() ? grow() : whole.pop();
            if (slab == null) {
                return null;
            }
            partial.add(slab);
            chunk = requireNonNull(slab.allocate(size));
        }
        if (chunk.slab().isExhausted()) {
            partial.remove(chunk.slab());
        }
        handedOutBytes += size;
        addBusy(chunk.slab(), 1);
        return chunk;
    }

    private @Nullable Chunk firstFit(int size) {
        for (Slab slab : partial) {
            Chunk chunk = slab.allocate(size);
            if (chunk != null) {
                return chunk;
            }
        }
        return null;
    }

    private @Nullable Slab grow() {
        if (count >= max) {
            return null;
        }
        try {
            Slab slab = newSlabs.get();
            count++;
            idle++;
            return slab;
        } catch (UsedUpException e) { // continues with what it has
            if (count < 2) {
                throw e;
            }
            log.warn(
                    "The cache's memory stays at {} MiB instead of {} MiB: the JVM grants no more direct memory."
                            + " Raise -XX:MaxDirectMemorySize or lower the setting 'memory'.",
                    count,
                    max);
            max = count;
            return null;
        }
    }

    /** A whole slab returns to the system. */
    private void drop() {
        count--;
        idle--;
    }

    /** The chunk of a busy page. */
    void free(Chunk chunk) {
        Slab slab = chunk.slab();
        addBusy(slab, -1);
        slab.free(chunk);
        handedOutBytes -= chunk.size();
        if (slab.isWhole()) {
            partial.remove(slab);
            if (count > max) {
                drop();
            } else {
                whole.push(slab);
            }
        } else {
            partial.add(slab);
        }
    }
}
