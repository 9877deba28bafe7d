package io.penstock.listing;

import io.penstock.listing.KeySpace.Split;
import io.penstock.listing.RangeLister.Demand;
import io.penstock.objectstore.KeyOrder;
import io.penstock.objectstore.ListPage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The ranges of a listing in the order of their keys, and the decision where to split them: see {@link RangeLister}.
 * Guarded by the lister.
 */
final class KeyRanges<R> {
    /** The number of keys of a page that are sampled for their form. */
    private static final int SAMPLE = 32;

    private final KeySpace space;
    private final ProbeBudget budget;

    /** All ranges, by the key after which each begins. */
    private final NavigableMap<String, KeyRange<R>> ranges = new TreeMap<>(KeyOrder.COMPARATOR);

    /** Ranges that are not settled. */
    private final NavigableMap<String, KeyRange<R>> open = new TreeMap<>(KeyOrder.COMPARATOR);

    /** Ranges whose next page must be requested. */
    private final NavigableMap<String, KeyRange<R>> waiting = new TreeMap<>(KeyOrder.COMPARATOR);

    /** The key after which the first range begins. */
    private String after = "";

    private @Nullable String token;

    /** The page before that key; null if there is none. */
    private @Nullable ListedPage before;

    /** The least key seen; null if there is none. */
    private @Nullable String first;

    private boolean sequential;

    KeyRanges(String prefix, int concurrency) {
        this.space = new KeySpace(prefix.length());
        this.budget = new ProbeBudget(concurrency);
    }

    /** Makes the first range begin after this page, which has keys. Must be called before {@link #begin}. */
    void beginBehind(ListPage page) {
        before = ListedPage.of(page);
        after = Objects.requireNonNull(before.last());
        token = page.nextToken();
        learn(page);
    }

    /** Begins with a single range. */
    void begin() {
        KeyRange<R> all = new KeyRange<>(after, null, false);
        all.token = token;
        if (before != null && !sequential) {
            all.advance(Objects.requireNonNull(before.first()), after);
        }
        ranges.put(after, all);
        open.put(after, all);
        waiting.put(after, all);
    }

    boolean isSequential() {
        return sequential;
    }

    boolean isAnyWaiting() {
        return !waiting.isEmpty();
    }

    /** Whether all keys have been collected. */
    boolean isSettled() {
        return open.isEmpty();
    }

    /**
     * The estimated share of the key space between the first key and the last possible one that has been listed: 0 to
     * 1.
     */
    double share() {
        if (first == null) {
            return 0;
        }
        KeyRange<R> last = ranges.lastEntry().getValue();
        double begin = space.share(first);
        double all = end(last) - begin;
        double left = 0;
        for (KeyRange<R> range : open.values()) {
            left += end(range) - Math.max(begin, space.share(range.settled));
        }
        return all <= 0 ? 1 : Math.clamp(1 - left / all, 0, 1);
    }

    private double end(KeyRange<R> range) {
        if (range.done) {
            return space.share(range.position);
        }
        return range.end == null ? 1 : space.share(range.end);
    }

    /** Whether all keys up to this one have been collected. */
    boolean isSettledUpTo(String key) {
        return open.isEmpty() || KeyOrder.compare(open.firstEntry().getValue().settled, key) >= 0;
    }

    /** The collected objects, in the order of their keys. */
    List<R> collected() {
        List<R> all = new ArrayList<>();
        for (KeyRange<R> range : ranges.values()) {
            if (range.collected != null) {
                all.add(range.collected);
            }
        }
        return all;
    }

    /** The range whose next page should be requested now; null if there is none. */
    @Nullable
    KeyRange<R> poll(Demand demand) {
        return switch (demand) {
            case ALL, NEAREST ->
                waiting.isEmpty() ? null : waiting.pollFirstEntry().getValue();
            case NEXT -> open.isEmpty() ? null : waiting.remove(open.firstKey());
            case NOTHING -> null;
        };
    }

    void await(KeyRange<R> range) {
        waiting.put(range.after, range);
    }

    /** The next probe; null if none is worth it. */
    @Nullable
    String probe(Demand demand) {
        if (sequential || demand == Demand.NOTHING || !budget.allows(open.size())) {
            return null;
        }
        KeyRange<R> best = null;
        Split split = null;
        for (KeyRange<R> range : open.values()) {
            Split candidate = range.mayBeProbed() ? range.split(space) : null;
            if (candidate != null && (split == null || candidate.worth() > split.worth())) {
                best = range;
                split = candidate;
            }
            if (demand == Demand.NEXT || (demand == Demand.NEAREST && split != null)) {
                break;
            }
        }
        if (best == null || split == null) {
            return null;
        }
        best.probed.add(split.key());
        best.changed();
        budget.begins();
        return split.key();
    }

    /** Handles a probe's page. Returns the range that the page belongs to, or null if the page is useless. */
    @Nullable
    KeyRange<R> split(String key, ListedPage page, long askedAt) {
        KeyRange<R> victim = probed(key);
        budget.answered();
        if (sequential || victim == null || !victim.isToCome(key) || key.equals(victim.end)) {
            miss(victim);
            return null;
        }
        boolean hasKeys = page.within(key, victim.end).size() > 0;
        if (!hasKeys && !page.goesOn(victim.end)) {
            victim.endAt(key, false);
            if (victim.emptySince == null || askedAt - victim.emptySince < 0) {
                victim.emptySince = askedAt;
            }
            victim.trust = 0;
            miss(victim);
            return null;
        }
        KeyRange<R> range = new KeyRange<>(key, victim.end, victim.full);
        victim.trust = victim.full && hasKeys ? victim.trust + 1 : 0;
        range.trust = victim.trust;
        range.probed.addAll(victim.probed.tailSet(key, false));
        victim.probed.tailSet(key, false).clear();
        range.emptySince = victim.emptySince; // its end is now nearer
        victim.emptySince = null;
        victim.endAt(key, hasKeys);
        victim.misses = 0;
        ranges.put(key, range);
        open.put(key, range);
        return range;
    }

    /** The range that contains or contained this key, where the probe has ended. */
    private @Nullable KeyRange<R> probed(String key) {
        budget.ends();
        Map.Entry<String, KeyRange<R>> entry = ranges.lowerEntry(key);
        if (entry == null) {
            return null;
        }
        entry.getValue().probed.remove(key);
        entry.getValue().changed();
        return entry.getValue();
    }

    private void miss(@Nullable KeyRange<R> range) {
        budget.missed();
        if (range != null) {
            range.misses++;
        }
    }

    /** A probe got no response. */
    void unanswered(String key) {
        probed(key);
    }

    /**
     * The store refuses a probe.
     *
     * @return whether the store seems to refuse all probes
     */
    boolean refused(String key) {
        miss(probed(key));
        return budget.refused();
    }

    /** Records a page of the range. */
    ListedPage advance(KeyRange<R> range, ListedPage page) {
        ListedPage kept = sequential ? page : page.within(range.position, range.end);
        int size = kept.size();
        range.token = page.page().nextToken();
        range.done = !page.goesOn(range.end);
        budget.came(size, page.size());
        if (size > 0) {
            range.misses = 0;
            if (first == null || KeyOrder.compare(Objects.requireNonNull(kept.first()), first) < 0) {
                first = kept.first();
            }
            range.advance(Objects.requireNonNull(kept.first()), Objects.requireNonNull(kept.last()));
            if (!sequential) {
                learn(kept.page());
            }
        }
        return kept;
    }

    /** Pages of the range by which it {@linkplain #advance advanced} have been collected. */
    void settle(KeyRange<R> range) {
        range.settled = range.position;
        if (range.done) {
            open.remove(range.after);
        } else {
            await(range);
        }
    }

    private void learn(ListPage page) {
        int objects = page.objects().size();
        for (int i = 0; i < objects; i += Math.clamp(objects - 1 - i, 1, objects / SAMPLE + 1)) {
            space.learn(page.objects().get(i).version().key());
        }
        int prefixes = page.commonPrefixes().size();
        for (int i = 0; i < prefixes; i += Math.clamp(prefixes - 1 - i, 1, prefixes / SAMPLE + 1)) {
            space.learn(page.commonPrefixes().get(i));
        }
    }

    /**
     * Continues without order. Restarts, unless all pages so far form one sequence.
     *
     * @return whether it restarts
     */
    boolean fallBack() {
        sequential = true;
        KeyRange<R> first = ranges.firstEntry().getValue();
        if (ranges.size() == 1 && first.end == null) {
            return false;
        }
        ranges.clear();
        open.clear();
        waiting.clear();
        budget.restart();
        begin();
        return true;
    }
}
