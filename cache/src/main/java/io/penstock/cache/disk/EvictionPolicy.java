package io.penstock.cache.disk;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the extent to evict: see ADR 17.
 *
 * <pre>
 *   new ──▶ WINDOW, a 25th ──unused for the longest──▶ evicted; its last uses are remembered for a while
 *              │ displaces the oldest of MAIN
 *              ▼
 *            MAIN, the rest ──unused for the longest──▶ evicted
 * </pre>
 *
 * <p>An extent displaces the least recently used one in MAIN in two cases: it has been used three times since the
 * other's last use, or the other has been unused for {@value #COLD_TURNS} times as many uses as there are extents. A
 * data set read in epochs, in order or shuffled, cannot displace itself in the first way: between two uses of one of
 * its extents, any other is used at most twice. So as much of it as fits stays, a scan passes through the window, and a
 * new data set replaces one that is no longer read.
 *
 * <p>A <em>use</em> is a pass over the extent, however many reads that takes. Time is measured in uses of all extents.
 *
 * <p>Guarded by {@link DiskSpace}'s monitor, except for {@link #touch}, which readers call without it.
 */
final class EvictionPolicy {
    private static final int COLD_TURNS = 10;

    /** The window is one part in this many. */
    private static final int WINDOW_SHARE = 25;

    /** Reads of an extent are one use until one part in this many of the others has been used: less than the window. */
    private static final int PASS_SHARE = 32;

    /** Before the first use. */
    private static final long NEVER = 0;

    private final PackTable packs;

    /** Uses of all extents. A busy mount counts 2³¹ of them in days. */
    private final AtomicLong clock;

    private final Segment window = new Segment();
    private final Segment main = new Segment();

    /**
     * The last two uses of evicted extents, in order of eviction, by {@link #key}; for packs, by the keys of samples.
     * All keys are bits of hashes, so none is mistaken for another.
     */
    private final LinkedHashMap<Long, Uses> evicted = new LinkedHashMap<>();

    private int held;

    /** The number of extents in the segments or held. Written under the monitor. */
    private volatile int extents;

    private record Uses(long last, long secondLast) {}

    /** Evictable extents. A used one moves to the end when it is examined, not when it is used. */
    private static final class Segment {
        final LinkedHashSet<Extent> queue = new LinkedHashSet<>();
        long bytes;

        void add(Extent extent) {
            extent.setLookedAt();
            if (queue.add(extent)) {
                bytes += extent.allocatedBytes();
            }
        }

        boolean remove(Extent extent) {
            boolean was = queue.remove(extent);
            if (was) {
                bytes -= extent.allocatedBytes();
            }
            return was;
        }
    }

    /** @param uses of all extents before */
    EvictionPolicy(PackTable packs, long uses) {
        this.packs = packs;
        this.clock = new AtomicLong(uses);
    }

    /** A page of the extent is being read. Racy on purpose: of simultaneous uses, some may be lost. */
    void touch(Extent extent) {
        long last = extent.lastUse();
        if (clock.get() - last > extents / PASS_SHARE) {
            extent.use(last, clock.incrementAndGet());
        }
    }

    /**
     * The extent takes space.
     *
     * @param limitBytes for all extents in the segments together
     */
    void add(Extent extent, long limitBytes) {
        long now = clock.incrementAndGet();
        Uses before = evicted.remove(key(extent));
        extent.setUses(now, before == null ? NEVER : before.last(), before == null ? NEVER : before.secondLast());
        boolean hasRoom = main.bytes + extent.wholeBytes() <= mainBytes(limitBytes);
        extent.setInMain(hasRoom || displacesOldest(extent));
        segment(extent).add(extent);
        count();
    }

    /**
     * A small object that is a sample is stored in the extent. If an earlier extent with it was evicted, this one
     * inherits that one's last uses.
     */
    void addSample(Extent extent, ObjectId id) {
        Uses before = evicted.remove(id.low());
        if (before == null || before.last() <= extent.secondLastUse()) {
            return;
        }
        extent.setUses(extent.lastUse(), before.last(), before.secondLast());
        if (!extent.isInMain() && window.remove(extent)) {
            extent.setInMain(displacesOldest(extent));
            segment(extent).add(extent);
        }
    }

    /** The extent takes this many bytes more, or fewer if negative. */
    void grew(Extent extent, long bytes) {
        Segment segment = segment(extent);
        if (segment.queue.contains(extent)) {
            segment.bytes += bytes;
        }
    }

    /** The extent leaves the segments until {@link #release} is called as often. Counts as a use. */
    void hold(Extent extent) {
        touch(extent);
        segment(extent).remove(extent);
        held++;
        count();
    }

    void release(Extent extent) {
        held--;
        if (!extent.isDoomed()) { // else its space has been freed, or will be
            extent.extendUse(clock.get());
            segment(extent).add(extent);
        }
        count();
    }

    /** The extent no longer takes space, or none that could be freed. */
    void remove(Extent extent) {
        segment(extent).remove(extent);
        count();
    }

    /**
     * The extent to evict next, which has left the segments.
     *
     * @param limitBytes for all extents in the segments together
     * @return null if all are in use at the moment
     */
    @Nullable
    Extent evict(long limitBytes) {
        boolean mainFirst = main.bytes > mainBytes(limitBytes);
        Extent victim = oldest(mainFirst ? main : window);
        if (victim == null) {
            victim = oldest(mainFirst ? window : main);
        }
        if (victim != null) {
            remove(victim);
            remember(victim);
        }
        return victim;
    }

    private void remember(Extent extent) {
        Uses uses = new Uses(extent.lastUse(), extent.secondLastUse());
        if (extent.object().isPack()) {
            packs.samples(extent).forEach(sample -> evicted.putLast(sample.low(), uses));
        } else {
            evicted.putLast(key(extent), uses);
        }
        int most = extents + packs.size() / PackTable.OBJECTS_PER_SAMPLE;
        while (evicted.size() > most) {
            evicted.pollFirstEntry();
        }
    }

    /** Identifies the same pages of the same object, even after their eviction: 64 bits of a hash. */
    private static long key(Extent extent) {
        return extent.object().id().low() + extent.firstPage() * 0x9E3779B97F4A7C15L;
    }

    private static long mainBytes(long limitBytes) {
        return limitBytes - windowBytes(limitBytes);
    }

    /** The bytes reserved for new extents. */
    static long windowBytes(long limitBytes) {
        return limitBytes / WINDOW_SHARE;
    }

    /** The least recently used extent; null if all are in use at the moment. */
    private @Nullable Extent oldest(Segment segment) {
        for (int left = 2 * segment.queue.size(); left > 0 && !segment.queue.isEmpty(); left--) {
            Extent first = segment.queue.getFirst();
            boolean used = first.isUsedSinceLookedAt();
            if (!used && !first.isPinned()) {
                return first;
            }
            segment.remove(first);
            if (used && segment == window && displacesOldest(first)) {
                first.setInMain(true); // MAIN then exceeds its share, and evicts the one displaced
            }
            segment(first).add(first);
        }
        return null;
    }

    private boolean displacesOldest(Extent extent) {
        Extent oldest = oldest(main);
        return oldest != null && displaces(extent, oldest);
    }

    private boolean displaces(Extent extent, Extent resident) {
        return extent.thirdLastUse() > resident.lastUse()
                || clock.get() - resident.lastUse() > (long) COLD_TURNS * extents;
    }

    private Segment segment(Extent extent) {
        return extent.isInMain() ? main : window;
    }

    /** The number of extents in the segments or held. */
    int extents() {
        return extents;
    }

    private void count() {
        extents = window.queue.size() + main.queue.size() + held;
    }
}
