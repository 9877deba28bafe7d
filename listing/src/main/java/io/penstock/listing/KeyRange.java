package io.penstock.listing;

import io.penstock.core.Printable;
import io.penstock.listing.KeySpace.Rest;
import io.penstock.listing.KeySpace.Split;
import io.penstock.objectstore.KeyOrder;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.PageProgress;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A range of keys that is listed in order, one request after the other.
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
 * Before the range is done its end may move nearer, but not before its position. From then on the keys between the new
 * end and the old belong to another range, or there are none. A page requested earlier is cut at the new end.
 *
 * <p>The lister guards all of it, except the collected objects, which belong to the thread that has the range's page.
 */
final class KeyRange<R> {
    /** The number of consecutive failed probes after which a range is not probed until it has advanced by a page. */
    private static final int MOST_MISSES = 8;

    /** The number of concurrent probes in a range that is considered full, and in any other range. */
    private static final int MOST_PROBED_FULL = 2;

    private static final int MOST_PROBED_OPEN = 4;

    /** The number of additional probes for each hit. */
    private static final int MORE_PROBED = 4;

    /** Keys up to this one are not in the range. */
    final String after;

    /** The last key seen: all keys up to it have been listed. */
    String position;

    /** All keys up to this one have been collected. */
    String settled;

    /** The last key that may be in the range; null for the end of the listing. */
    @Nullable
    String end;

    /** When the first probe that found no keys up to the former end was requested, in nanoseconds; null if none did. */
    @Nullable
    Long emptySince;

    /** Whether there are keys right after the end, as far as is known. */
    boolean full;

    /** Progress of its pages. */
    final PageProgress progress;

    /** The token that continues the listing; null to list after the position. */
    @Nullable
    String token;

    /** The beginning of the last page with keys; null if there was none. */
    @Nullable
    String pageFrom;

    boolean done;

    /** Consecutive probes that split nothing off. */
    int misses;

    /** Consecutive hits of probes while the range is full: each allows more probes. */
    int trust;

    /** Created by the thread that handles the first page. */
    @Nullable
    R collected;

    /** The keys after which running probes begin. */
    TreeSet<String> probed = new TreeSet<>(KeyOrder.COMPARATOR);

    /** The next split if {@link #splitKnown}; null for none. */
    private @Nullable Split split;

    private boolean splitKnown;

    KeyRange(String after, @Nullable String end, boolean full) {
        this.after = after;
        this.progress = new PageProgress("listing after '" + Printable.text(after) + "'");
        this.position = after;
        this.settled = after;
        this.end = end;
        this.full = full;
    }

    /** The request for the next page. */
    ListRequest next(String prefix, String delimiter) {
        String startAfter = after.isEmpty() ? null : after;
        return new ListRequest(prefix, delimiter, startAfter, token, ListRequest.MAX_KEYS);
    }

    /** Whether the key is still to be listed: within the range, after the position. */
    boolean isToCome(String key) {
        return !done && KeyOrder.compare(key, position) > 0 && isWithin(key);
    }

    /** Whether the key is not after the end. */
    boolean isWithin(String key) {
        return end == null || KeyOrder.compare(key, end) <= 0;
    }

    /** The page up to {@code last} has arrived. */
    void advance(String first, String last) {
        pageFrom = first;
        position = last;
        changed();
    }

    /** Ends the range here: the keys after it belong to another range, or there are none. */
    void endAt(String key, boolean keysAfter) {
        end = key;
        full = keysAfter;
        changed();
    }

    void changed() {
        splitKnown = false;
    }

    /** Whether another probe may run. Half of the first probes fail, but few after a hit. */
    boolean mayBeProbed() {
        return misses < MOST_MISSES
                && probed.size() < (full ? MOST_PROBED_FULL : MOST_PROBED_OPEN) + MORE_PROBED * trust;
    }

    /** Where to split; null if no split is worth it. */
    @Nullable
    Split split(KeySpace space) {
        if (!splitKnown) {
            Rest rest = rest();
            split = rest == null ? null : space.split(rest);
            splitKnown = true;
        }
        return split;
    }

    /** The remaining part of the range; null if nothing is known about it. */
    @Nullable
    Rest rest() {
        return done || pageFrom == null ? null : new Rest(pageFrom, position, end, full, probed);
    }
}
