package io.penstock.metadata;

import io.penstock.metadata.KeySpace.Rest;
import io.penstock.metadata.KeySpace.Split;
import io.penstock.objectstore.KeyOrder;
import io.penstock.objectstore.ListRequest;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Keys from one to another, listed in order by one request after the other.
 *
 * <pre>
 *            ┌──────────throttled───────────┐
 *            ▼                              │
 *         WAITING ──its turn──▶ ASKED ──────┤
 *            ▲                              │ page: the position advances
 *            │                              ▼
 *            └─── there is more ─────── COLLECTED ──the end was reached──▶ SETTLED
 *            ▲
 *  a probe found keys here
 * </pre>
 *
 * While it is not done its end may come nearer, never nearer than its position: what lies between the new end and the old
 * belongs to another range from then on, or is known to be empty. A page that was asked for before is cut at the new end.
 *
 * <p>All is guarded by the lister, but what is collected, which belongs to the thread that has its page.
 */
final class KeyRange<R> {
    /** One that was probed so often in a row in vain is left alone until it has advanced by a page. */
    private static final int MOST_MISSES = 8;

    /** Probes that may be under way in a range that is taken to be full, and in one that is not. */
    private static final int MOST_PROBED_FULL = 2;

    private static final int MOST_PROBED_OPEN = 4;

    /** So many more for each probe that hit. */
    private static final int MORE_PROBED = 4;

    /** Keys up to this one are not in the range. */
    final String after;

    /** The last key that was seen: all up to it is done with. */
    String position;

    /** All up to this key has been collected. */
    String settled;

    /** The last key that may be in the range; null for the end of the listing. */
    @Nullable
    String end;

    /** When the first probe was asked for that found nothing up to the former end; null if none did. Nanoseconds. */
    @Nullable
    Long emptySince;

    /** Whether there are keys right after the end, as far as is known. */
    boolean full;

    /** Continues; null for a listing that begins after the position. */
    @Nullable
    String token;

    /** Where the last page that had keys began; null if there was none. */
    @Nullable
    String pageFrom;

    boolean done;

    /** Probes in a row that split nothing off. */
    int misses;

    /** Probes that hit, one after the other, since it was taken to be full: so far they are to be trusted. */
    int trust;

    /** Made by the thread that brings the first page. */
    @Nullable
    R collected;

    /** Keys after which somebody looks for others. */
    TreeSet<String> probed = new TreeSet<>(KeyOrder.COMPARATOR);

    /** Where to split next, if {@link #splitKnown}; null for nowhere. */
    private @Nullable Split split;

    private boolean splitKnown;

    KeyRange(String after, @Nullable String end, boolean full) {
        this.after = after;
        this.position = after;
        this.settled = after;
        this.end = end;
        this.full = full;
    }

    /** The next page. */
    ListRequest next(String prefix, String delimiter) {
        String startAfter = after.isEmpty() ? null : after;
        return new ListRequest(prefix, delimiter, startAfter, token, ListRequest.MAX_KEYS);
    }

    /** Whether the key is yet to come. */
    boolean isToCome(String key) {
        return !done && KeyOrder.compare(key, position) > 0 && isWithin(key);
    }

    /** Whether it is not after the end. */
    boolean isWithin(String key) {
        return end == null || KeyOrder.compare(key, end) <= 0;
    }

    /** The keys to {@code last} are there. */
    void advance(String first, String last) {
        pageFrom = first;
        position = last;
        changed();
    }

    /** Nothing, or another range, has what comes after. */
    void endAt(String key, boolean keysAfter) {
        end = key;
        full = keysAfter;
        changed();
    }

    void changed() {
        splitKnown = false;
    }

    /** Whether another probe may be under way: half of them are in vain at first, and few once they have hit. */
    boolean mayBeProbed() {
        return misses < MOST_MISSES
                && probed.size() < (full ? MOST_PROBED_FULL : MOST_PROBED_OPEN) + MORE_PROBED * trust;
    }

    /** Where to split; null if it is not worth it. */
    @Nullable
    Split split(KeySpace space) {
        if (!splitKnown) {
            Rest rest = rest();
            split = rest == null ? null : space.split(rest);
            splitKnown = true;
        }
        return split;
    }

    /** What is to come; null if nothing is known of it. */
    @Nullable
    Rest rest() {
        return done || pageFrom == null ? null : new Rest(pageFrom, position, end, full, probed);
    }
}
