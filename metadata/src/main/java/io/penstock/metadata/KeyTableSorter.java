package io.penstock.metadata;

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
 * Makes a {@link KeyTable} of objects that come in any order. Of those that have one key it keeps the one that was modified
 * last; of those of one millisecond, the one that came last.
 *
 * <p>Objects are collected in runs, each of which is sorted in heap and encoded. Runs that lie behind each other are joined
 * as they are, so that what comes in order is encoded once; those that overlap are merged. Never more than one run is in
 * heap, and never more than twice the table outside it.
 *
 * <p>{@link #close} frees what no table has. Used by one thread at a time.
 */
final class KeyTableSorter implements AutoCloseable {
    /** Objects that are sorted in heap: some 30 MiB. */
    static final int RUN_SIZE = 100_000;

    /** So often a merge looks whether it is interrupted: objects. */
    private static final int INTERRUPTIBLE_EACH = 4096;

    /** Of one key the object to be kept is the last. */
    private static final Comparator<Entry> ENTRIES = Comparator.comparing(
                    (Entry entry) -> entry.key, Arrays::compareUnsigned)
            .thenComparingLong(entry -> millis(entry.object));

    private static final Comparator<Source> SOURCES = Comparator.comparing(Source::cursor, KeyCursor::compareKey)
            .thenComparingLong(source -> millis(source.cursor.object()))
            .thenComparingInt(Source::number);

    private final long asOfNanos;
    private final int runSize;

    /** The run that is collected. */
    private final List<Entry> run = new ArrayList<>();

    private final List<Run> runs = new ArrayList<>();

    /** All that were begun: to close one that a table has taken over does nothing. */
    private final List<KeyTableBuilder> begun = new ArrayList<>();

    /** Of the runs that are being merged. */
    private final List<KeyTable> merging = new ArrayList<>();

    private boolean open = true;

    private static final class Entry {
        /** In UTF-8, whose bytes are compared many at once. */
        final byte[] key;

        final StoredObject object;

        Entry(StoredObject object) {
            this.key = key(object).getBytes(UTF_8);
            this.object = object;
        }
    }

    /** @param number of those that came before it */
    private record Run(KeyTableBuilder builder, String first, String last, int number) {}

    /** A run that is merged, at the key that comes next. */
    private record Source(KeyCursor cursor, int number) {}

    /** @param asOfNanos when the store was asked for all of it */
    KeyTableSorter(long asOfNanos) {
        this(asOfNanos, RUN_SIZE);
    }

    /** @param runSize objects that are sorted in heap: 1 or more */
    KeyTableSorter(long asOfNanos, int runSize) {
        this.asOfNanos = asOfNanos;
        this.runSize = runSize;
    }

    /**
     * Adds an object. Its time is kept in whole milliseconds.
     *
     * @throws IllegalArgumentException if a key or an ETag that was added is none of S3's, as of {@link KeyTableBuilder#add}:
     *     there is no table then
     */
    void add(StoredObject object) throws InterruptedException {
        checkIsOpen();
        run.add(new Entry(object));
        if (run.size() >= runSize) {
            endRun();
        }
    }

    /**
     * Makes the table. Nothing can be added from then on.
     *
     * @throws IllegalArgumentException as of {@link #add}
     */
    KeyTable finish() throws InterruptedException {
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

    /** All that was added, without overlaps. */
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

    /** One of all these: of one as it is, of none without objects. */
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

    /** Frees what no table has. May be called again, and after {@link #finish}. */
    @Override
    public void close() {
        open = false;
        run.clear();
        begun.forEach(KeyTableBuilder::close);
        freeMerged();
    }
}
