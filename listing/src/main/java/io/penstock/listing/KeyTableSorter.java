package io.penstock.listing;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.objectstore.KeyOrder;
import io.penstock.objectstore.StoredObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Builds a {@link KeyTable} from objects in any order. Of objects with the same key it keeps the one modified last, and
 * of those with equal times the one added last.
 *
 * <p>Objects are collected in runs, each of which is sorted on the heap and encoded. Consecutive runs are joined
 * without change, so ordered input is encoded once; overlapping runs are merged. At most one run is on the heap, and at
 * most twice the table outside it.
 *
 * <p>{@link #close} frees all memory that no table has taken over. Used by one thread at a time.
 */
public final class KeyTableSorter implements AutoCloseable {
    /** Objects that are sorted on the heap: some 30 MiB. */
    static final int RUN_SIZE = 100_000;

    /** The number of objects that a merge handles between two checks for an interrupt. */
    private static final int INTERRUPTIBLE_EACH = 4096;

    /** Orders the object to keep last among those with the same key. */
    private static final Comparator<Entry> ENTRIES = Comparator.comparing(
                    (Entry entry) -> entry.key, Arrays::compareUnsigned)
            .thenComparingLong(entry -> millis(entry.object));

    private static final Comparator<Source> SOURCES = Comparator.comparing(Source::cursor, KeyCursor::compareKey)
            .thenComparingLong(source -> millis(source.cursor.object()))
            .thenComparingInt(Source::number);

    private final long asOfNanos;
    private final int runSize;

    /** The run being collected. */
    private final List<Entry> run = new ArrayList<>();

    private final List<Run> runs = new ArrayList<>();

    /** All builders: closing one that a table has taken over does nothing. */
    private final List<KeyTableBuilder> begun = new ArrayList<>();

    /** The builders of the runs being merged. */
    private final List<KeyTable> merging = new ArrayList<>();

    private boolean open = true;

    private static final class Entry {
        /** In UTF-8, whose bytes are compared many at a time. */
        final byte[] key;

        final StoredObject object;

        Entry(StoredObject object) {
            this.key = key(object).getBytes(UTF_8);
            this.object = object;
        }
    }

    /** @param number of objects before it */
    private record Run(KeyTableBuilder builder, String first, String last, int number) {}

    /** A run being merged, at its next key. */
    private record Source(KeyCursor cursor, int number) {}

    /** @param asOfNanos when the store was asked for all objects */
    public KeyTableSorter(long asOfNanos) {
        this(asOfNanos, RUN_SIZE);
    }

    /** @param runSize objects that are sorted on the heap: 1 or more */
    KeyTableSorter(long asOfNanos, int runSize) {
        this.asOfNanos = asOfNanos;
        this.runSize = runSize;
    }

    /**
     * Adds an object. Its time is kept in whole milliseconds.
     *
     * @throws IllegalArgumentException if a key or an ETag is not one of S3, as in {@link KeyTableBuilder#add}: then no
     *     table can be built
     */
    public void add(StoredObject object) throws InterruptedException {
        checkIsOpen();
        run.add(new Entry(object));
        if (run.size() >= runSize) {
            endRun();
        }
    }

    /**
     * Builds the table. Nothing can be added afterwards.
     *
     * @throws IllegalArgumentException as in {@link #add}
     */
    public KeyTable finish() throws InterruptedException {
        checkIsOpen();
        open = false;
        endRun();
        return KeyTable.join(inOrder());
    }

    private void endRun() throws InterruptedException {
        checkIsNotInterrupted();
        if (run.isEmpty()) {
            return;
        }
        run.sort(ENTRIES);
        KeyTableBuilder builder = begin();
        for (int i = 0; i < run.size(); i++) {
            if (i + 1 == run.size() || !Arrays.equals(run.get(i).key, run.get(i + 1).key)) {
                builder.add(run.get(i).object);
            }
        }
        builder.finish();
        runs.add(new Run(builder, key(run.getFirst().object), key(run.getLast().object), runs.size()));
        run.clear();
    }

    /** All objects, without overlaps. */
    private List<KeyTableBuilder> inOrder() throws InterruptedException {
        runs.sort(Comparator.comparing(Run::first, KeyOrder.COMPARATOR));
        List<KeyTableBuilder> inOrder = new ArrayList<>();
        List<Run> overlapping = new ArrayList<>();
        String last = null;
        for (Run next : runs) {
            if (last != null && KeyOrder.compare(last, next.first) < 0) {
                inOrder.add(merge(overlapping));
                overlapping.clear();
                last = null;
            }
            overlapping.add(next);
            last = last == null || KeyOrder.compare(last, next.last) < 0 ? next.last : last;
        }
        inOrder.add(merge(overlapping));
        return inOrder;
    }

    /** One builder for all these runs: a single run is unchanged, and no runs give an empty builder. */
    private KeyTableBuilder merge(List<Run> overlapping) throws InterruptedException {
        if (overlapping.size() == 1) {
            return overlapping.getFirst().builder;
        }
        KeyTableBuilder merged = begin();
        PriorityQueue<Source> sources = new PriorityQueue<>(SOURCES);
        for (Run each : overlapping) {
            KeyTable table = KeyTable.join(List.of(each.builder));
            merging.add(table);
            advance(new Source(table.cursor(), each.number), sources);
        }
        merge(sources, merged);
        merged.finish();
        freeMerged();
        return merged;
    }

    private static void merge(PriorityQueue<Source> sources, KeyTableBuilder merged) throws InterruptedException {
        StoredObject kept = null;
        for (long count = 0; !sources.isEmpty(); count++) {
            if (count % INTERRUPTIBLE_EACH == 0) {
                checkIsNotInterrupted();
            }
            Source next = sources.remove();
            StoredObject object = next.cursor.object();
            if (kept != null && !key(kept).equals(key(object))) {
                merged.add(kept);
            }
            kept = object;
            advance(next, sources);
        }
        addIfAny(kept, merged);
    }

    private static void addIfAny(@Nullable StoredObject kept, KeyTableBuilder merged) {
        if (kept != null) {
            merged.add(kept);
        }
    }

    private static void advance(Source source, PriorityQueue<Source> sources) {
        if (source.cursor.next()) {
            sources.add(source);
        }
    }

    private KeyTableBuilder begin() {
        KeyTableBuilder builder = new KeyTableBuilder();
        begun.add(builder);
        builder.page(asOfNanos);
        return builder;
    }

    private static void checkIsNotInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted while keys are sorted");
        }
    }

    private void checkIsOpen() {
        if (!open) {
            throw new IllegalStateException("this sorter has made its table, or is closed");
        }
    }

    private static String key(StoredObject object) {
        return object.version().key();
    }

    private static long millis(StoredObject object) {
        return object.version().lastModified().toEpochMilli();
    }

    private void freeMerged() {
        merging.forEach(KeyTable::close);
        merging.clear();
    }

    /** Frees the memory that no table has taken over. May be called again, and after {@link #finish}. */
    @Override
    public void close() {
        open = false;
        run.clear();
        begun.forEach(KeyTableBuilder::close);
        freeMerged();
    }
}
