package io.penstock.writeback.content;

import io.penstock.core.ByteRange;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A set of bytes, as sorted, disjoint runs. Adjacent runs are merged. Guarded by the lock of its owner. */
public final class Ranges {
    /** No byte. */
    public static final long NONE = Long.MAX_VALUE;

    /** Starts and ends in turn, strictly ascending. */
    private long[] bounds;

    private int count;

    public Ranges() {
        this(new long[4], 0);
    }

    private Ranges(long[] bounds, int count) {
        this.bounds = bounds;
        this.count = count;
    }

    public Ranges copy() {
        return new Ranges(Arrays.copyOf(bounds, Math.max(4, count)), count);
    }

    public boolean isEmpty() {
        return count == 0;
    }

    /** Where the last run ends; 0 if there is none. */
    public long end() {
        return count == 0 ? 0 : bounds[count - 1];
    }

    /** Number of bytes. */
    public long length() {
        long length = 0;
        for (int i = 0; i < count; i += 2) {
            length += bounds[i + 1] - bounds[i];
        }
        return length;
    }

    public List<ByteRange> toList() {
        List<ByteRange> runs = new ArrayList<>(count / 2);
        for (int i = 0; i < count; i += 2) {
            runs.add(new ByteRange(bounds[i], bounds[i + 1] - bounds[i]));
        }
        return runs;
    }

    /** Whether it contains all bytes of {@code [from, to)}. */
    public boolean covers(long from, long to) {
        int below = boundsUpTo(from);
        return from >= to || (below % 2 == 1 && bounds[below] >= to);
    }

    /** Whether it contains all bytes of the others. */
    boolean covers(Ranges others) {
        return others.toList().stream().allMatch(range -> covers(range.offset(), range.end()));
    }

    /** The first byte in the set at or after the offset, or {@link #NONE}. */
    public long nextIn(long offset) {
        int below = boundsUpTo(offset);
        if (below % 2 == 1) {
            return offset;
        }
        return below < count ? bounds[below] : NONE;
    }

    /** The first byte not in the set at or after the offset. */
    long nextOut(long offset) {
        int below = boundsUpTo(offset);
        return below % 2 == 1 ? bounds[below] : offset;
    }

    public void add(long from, long to) {
        if (from < to) {
            int first = boundsBelow(from);
            int last = boundsUpTo(to);
            replace(first, last, first % 2 == 0 ? from : NONE, last % 2 == 0 ? to : NONE);
        }
    }

    public void remove(long from, long to) {
        if (from < to) {
            int first = boundsBelow(from);
            int last = boundsUpTo(to);
            replace(first, last, first % 2 == 1 ? from : NONE, last % 2 == 1 ? to : NONE);
        }
    }

    public void addAll(Ranges others) {
        for (int i = 0; i < others.count; i += 2) {
            add(others.bounds[i], others.bounds[i + 1]);
        }
    }

    /** The intersection. */
    public Ranges and(Ranges others) {
        Ranges common = new Ranges();
        for (int i = 0; i < count; i += 2) {
            long from = others.nextIn(bounds[i]);
            while (from < bounds[i + 1]) {
                long to = Math.min(others.nextOut(from), bounds[i + 1]);
                common.add(from, to);
                from = others.nextIn(to);
            }
        }
        return common;
    }

    /** How many bounds are at or below the offset: odd within a run. */
    private int boundsUpTo(long offset) {
        int found = Arrays.binarySearch(bounds, 0, count, offset);
        return found >= 0 ? found + 1 : -found - 1;
    }

    private int boundsBelow(long offset) {
        int found = Arrays.binarySearch(bounds, 0, count, offset);
        return found >= 0 ? found : -found - 1;
    }

    /** Replaces the bounds from {@code first} to before {@code last} by up to two bounds. */
    private void replace(int first, int last, long start, long end) {
        int added = (start != NONE ? 1 : 0) + (end != NONE ? 1 : 0);
        int changed = count - (last - first) + added;
        long[] to = changed > bounds.length ? Arrays.copyOf(bounds, changed * 2) : bounds;
        System.arraycopy(bounds, last, to, first + added, count - last);
        int at = first;
        if (start != NONE) {
            to[at++] = start;
        }
        if (end != NONE) {
            to[at] = end;
        }
        bounds = to;
        count = changed;
    }

    @Override
    public String toString() {
        return toList().toString();
    }
}
