package io.penstock.metadata;

import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.StoredObject;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What a {@link RangeLister} of a flat listing collects in: for each range of keys a builder. Safe for its threads. */
final class RangeBuilders implements RangeLister.Collector<KeyTableBuilder>, AutoCloseable {
    private final Queue<KeyTableBuilder> begun = new ConcurrentLinkedQueue<>();

    @Override
    public KeyTableBuilder begin() {
        KeyTableBuilder range = new KeyTableBuilder();
        begun.add(range);
        return range;
    }

    @Override
    public void page(KeyTableBuilder range, ListPage page, long askedAt) {
        range.page(askedAt);
        for (StoredObject object : page.objects()) {
            range.add(object);
        }
    }

    /** Frees what no table has taken over. */
    @Override
    public void close() {
        begun.forEach(KeyTableBuilder::close);
    }
}
