package io.penstock.writeback;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Ranges of a file whose bytes are those of other objects' versions: disjoint runs, those that go on in each other joined.
 * Guarded by the file's lock.
 */
final class Copies {
    private final NavigableMap<Long, Run> byStart = new TreeMap<>();

    Copies copy() {
        Copies same = new Copies();
        same.byStart.putAll(byStart);
        return same;
    }

    boolean isEmpty() {
        return byStart.isEmpty();
    }

    /** Number of bytes. */
    long length() {
        return byStart.values().stream().mapToLong(Run::length).sum();
    }

    List<Run> toList() {
        return new ArrayList<>(byStart.values());
    }

    /** The run that has this byte: null if none has. */
    @Nullable
    Run at(long position) {
        Map.Entry<Long, Run> before = byStart.floorEntry(position);
        return before != null && before.getValue().range().end() > position ? before.getValue() : null;
    }

    /** The first byte behind the position at which a run begins, or {@link Ranges#NONE}. */
    long nextAfter(long position) {
        Long next = byStart.higherKey(position);
        return next == null ? Ranges.NONE : next;
    }

    /** The first run: null if there is none. */
    @Nullable
    Run first() {
        Map.Entry<Long, Run> first = byStart.firstEntry();
        return first == null ? null : first.getValue();
    }

    /** Whether a run that ends where this one begins goes on in it. */
    boolean continuesIn(Run run) {
        long start = run.range().offset();
        Run before = start == 0 ? null : at(start - 1);
        return before != null && before.continuesIn(run);
    }

    /** Whether all of the run's range has just these bytes. */
    boolean has(Run run) {
        Run there = at(run.range().offset());
        return there != null
                && there.range().end() >= run.range().end()
                && there.between(run.range().offset(), run.range().end()).equals(run);
    }

    void add(Run run) {
        long start = run.range().offset();
        long end = run.range().end();
        remove(start, end);
        Run joined = run;
        Run before = start == 0 ? null : at(start - 1);
        if (before != null && before.continuesIn(run)) {
            joined = before.between(before.range().offset(), end);
        }
        Run after = byStart.get(end);
        if (after != null && run.continuesIn(after)) {
            byStart.remove(end);
            joined = joined.between(joined.range().offset(), after.range().end());
        }
        byStart.put(joined.range().offset(), joined);
    }

    void remove(long from, long to) {
        if (from >= to) {
            return;
        }
        cutAt(from);
        cutAt(to);
        byStart.subMap(from, to).clear();
    }

    private void cutAt(long position) {
        Run run = at(position);
        if (run != null && run.range().offset() < position) {
            byStart.put(run.range().offset(), run.between(run.range().offset(), position));
            byStart.put(position, run.between(position, run.range().end()));
        }
    }

    @Override
    public String toString() {
        return byStart.values().toString();
    }
}
