package io.penstock.prefetch;

import static io.penstock.cache.PageCache.PAGE_SIZE;

import io.penstock.core.ByteRange;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** A file whose pages arrive as soon as they are requested: detection's decisions, without threads, cache and store. */
final class StreamsModel {
    final List<ByteRange> demand = new ArrayList<>();
    final List<ByteRange> readahead = new ArrayList<>();
    final BitSet fetched = new BitSet();
    final BitSet touched = new BitSet();
    final LongAdder used = new LongAdder();
    final Streams streams;
    private final long size;

    StreamsModel(ReadaheadConfig config, long size) {
        this(config, size, new RunningStreams(() -> Long.MAX_VALUE, () -> 0));
    }

    StreamsModel(ReadaheadConfig config, long size, RunningStreams running) {
        this.size = size;
        this.streams = new Streams(() -> config, size, used, running);
    }

    void read(long from, long length) {
        long to = Math.min(from + length, size);
        Stream movedOn = streams.observe(from, to);
        for (int page = page(from); page <= page(to - 1); page++) {
            touched.set(page);
            if (!fetched.get(page)) {
                long until = streams.issueOnDemand(Math.max(from, (long) page * PAGE_SIZE), to);
                ByteRange claim = claim(page, page(until - 1) + 1);
                if (claim != null) {
                    demand.add(claim);
                }
            }
        }
        if (movedOn == null) {
            return;
        }
        ByteRange range;
        while ((range = streams.issue(movedOn)) != null) {
            ByteRange claim = claim(page(range.offset()), page(range.end() - 1) + 1);
            if (claim != null) {
                readahead.add(claim);
                streams.claimed(movedOn, range, claim);
            }
        }
    }

    /** The first run of pages that were not fetched. */
    private @Nullable ByteRange claim(int from, int to) {
        int first = fetched.nextClearBit(from);
        if (first >= to) {
            return null;
        }
        int next = fetched.nextSetBit(first);
        int end = next < 0 ? to : Math.min(next, to);
        fetched.set(first, end);
        long offset = (long) first * PAGE_SIZE;
        return new ByteRange(offset, Math.min((long) end * PAGE_SIZE, size) - offset);
    }

    /** Pages fetched that no read has touched. */
    int untouched() {
        BitSet unused = (BitSet) fetched.clone();
        unused.andNot(touched);
        return unused.cardinality();
    }

    long fetchedBytes() {
        return (long) fetched.cardinality() * PAGE_SIZE;
    }

    private static int page(long offset) {
        return (int) (offset / PAGE_SIZE);
    }
}
