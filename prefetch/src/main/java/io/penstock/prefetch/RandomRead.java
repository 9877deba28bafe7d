package io.penstock.prefetch;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static io.penstock.cache.PageCache.SECTOR_SIZE;

import io.penstock.cache.CachedObject;
import io.penstock.cache.Fill;
import io.penstock.cache.PageState;
import io.penstock.cache.Urgency;
import io.penstock.objectstore.Deadline;
import java.util.ArrayList;
import java.util.List;

/**
 * Fetches what a random read needs. The first miss in a page fetches only the sectors requested: the requested bytes
 * arrive sooner, and random reads fetch little. The second miss in a page fetches the page. So where many reads fall,
 * most of them find their bytes cached, and in the end the whole object is in pages.
 *
 * <p>Confined to the reader's thread.
 */
final class RandomRead {
    private final PageFetcher fetcher;
    private final OpenVersion object;
    private final CachedObject pages;
    private final CachedObject sectors;
    private final Deadline deadline;
    private final List<RangeFetch> started = new ArrayList<>();

    RandomRead(PageFetcher fetcher, OpenVersion object, CachedObject sectors, Deadline deadline) {
        this.fetcher = fetcher;
        this.object = object;
        this.pages = object.cached;
        this.sectors = sectors;
        this.deadline = deadline;
    }

    /** Claims the Missing sectors of {@code [from, to)}, bytes within the object, and starts their GETs. */
    List<RangeFetch> fetchMissing(long from, long to) throws InterruptedException {
        for (long at = from; at < to; ) {
            boolean asPages = isWantedWhole(at, to);
            long end = pageEnd(at);
            while (end < to && isWantedWhole(end, to) == asPages) {
                end = pageEnd(end);
            }
            claim(asPages ? pages : sectors, at, Math.min(end, to));
            at = end;
        }
        return started;
    }

    /** Whether to fetch the whole page; also true if it is cached, or if no sector is missing. */
    private boolean isWantedWhole(long at, long to) {
        long start = at / PAGE_SIZE * PAGE_SIZE;
        long end = Math.min(start + PAGE_SIZE, pages.version().size());
        if (pages.state(at / PAGE_SIZE) != PageState.MISSING || (at == start && to >= end)) {
            return true;
        }
        return !areMissing(start, end) && !object.areInSectors(at, Math.min(to, end));
    }

    /** Whether all sectors of these bytes are neither cached nor in flight. */
    private boolean areMissing(long from, long to) {
        for (long at = from; at < to; at += SECTOR_SIZE) {
            if (sectors.state(at / SECTOR_SIZE) != PageState.MISSING) {
                return false;
            }
        }
        return true;
    }

    private void claim(CachedObject from, long start, long end) throws InterruptedException {
        int size = from.pageSize();
        long last = Math.ceilDiv(end, size);
        for (long page = start / size; page < last; ) {
            Fill fill = from.claim(page, last, Urgency.DEMAND);
            if (fill == null) {
                return;
            }
            started.add(fetcher.fetch(object, fill, deadline));
            page = Math.ceilDiv(fill.range().end(), size);
        }
    }

    private long pageEnd(long at) {
        return Math.min((at / PAGE_SIZE + 1) * PAGE_SIZE, pages.version().size());
    }
}
