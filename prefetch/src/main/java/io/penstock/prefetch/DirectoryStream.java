package io.penstock.prefetch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.cache.Urgency;
import io.penstock.core.ObjectVersion;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How a directory's small files are read, and what of them is to be fetched ahead.
 *
 * <pre>
 *            {@value #RUN} files, each near the one before
 *   UNKNOWN ──────────────────────────────────────────────────▶ IN_ORDER: what follows the last one
 *    │ │ ▲                                                        │
 *    │ │ ├──────────────── one far away, or a failed GET ─────────┤
 *    │ └─────────────────────────────────────────────────────▶ REPEATED: what followed it in the epoch before
 *    │       {@value #REPEATED_RUN}, each near the one before in the order of the epoch before
 *    └───────────────────────────────────────────────────────▶ AT_RANDOM: all, from the first one on
 *            a {@value #SHARE}th of all files, {@value #LEAST} at least
 * </pre>
 *
 * <p>Each epoch begins with UNKNOWN, and nothing is fetched ahead before one of its files had to be waited for. The
 * files fetched ahead and not read yet are at most {@value #AHEAD} times those that were read: a reader of few files
 * has few fetched in vain. Safe for use by any number of threads.
 */
final class DirectoryStream {
    static final int RUN = 4;
    static final int REPEATED_RUN = 16;
    static final int SHARE = 64;
    static final int LEAST = 32;
    static final int AHEAD = 4;

    /** Workers that share a list of files read them almost in order. */
    private static final int NEAR = 64;

    /** As near are files in an order that is repeated, by workers that each take a batch of them: at most, and of all. */
    private static final int NEAR_IN_ORDER = 1024;

    private static final int NEAR_SHARE = 16;

    private enum Shape {
        UNKNOWN(FetchedAhead.NOT),
        IN_ORDER(FetchedAhead.DIRECTORY_ORDER),
        REPEATED(FetchedAhead.EPOCH_ORDER),
        AT_RANDOM(FetchedAhead.WHOLE_DIRECTORY);

        private final FetchedAhead ahead;

        Shape(FetchedAhead ahead) {
            this.ahead = ahead;
        }
    }

    /**
     * A file that is to be fetched ahead.
     *
     * @param place its index, or its place in the order that is repeated
     */
    record Next(int index, int place, ObjectVersion version, FetchedAhead why) {
        /** Its reader is near where the order is known. Most of a whole directory is read long after, from the disk. */
        Urgency urgency() {
            return why == FetchedAhead.WHOLE_DIRECTORY ? Urgency.LATER : Urgency.READAHEAD;
        }
    }

    private final DirectoryFiles files;
    private final Supplier<ReadaheadConfig> limits;
    private final LongSupplier mostAtRandom;
    private final LongAdder usedBytes;

    @GuardedBy("this")
    private Shape shape = Shape.UNKNOWN;

    /** The files fetched ahead, and not read since, by index; in the order in which they were fetched. */
    @GuardedBy("this")
    private final SequencedMap<Integer, Next> ahead = new LinkedHashMap<>();

    @GuardedBy("this")
    private long aheadBytes;

    @GuardedBy("this")
    private final ReadOrder order = new ReadOrder();

    /** In this epoch read, in the cache before, or not to be had. */
    @GuardedBy("this")
    private final BitSet known = new BitSet();

    @GuardedBy("this")
    private long readBytes;

    /** Files that had to be waited for since the epoch began, or one was read again. */
    @GuardedBy("this")
    private int cold;

    /** By index. */
    @GuardedBy("this")
    private OrderedRun listed = new OrderedRun(NEAR);

    /** By their place in the order of the epoch before. */
    @GuardedBy("this")
    private OrderedRun repeated = new OrderedRun(NEAR);

    /** The first file that may be fetched next: its index, or its place in the order of the epoch before. */
    @GuardedBy("this")
    private int next;

    /** Whether a caller of {@link #opened} holds it: it is in the queue for a GET. */
    @GuardedBy("this")
    private boolean isHeld;

    /**
     * @param mostAtRandom most bytes to fetch ahead of a reader without a known order
     * @param usedBytes counts bytes that were fetched ahead and are read
     */
    DirectoryStream(
            DirectoryFiles files, Supplier<ReadaheadConfig> limits, LongSupplier mostAtRandom, LongAdder usedBytes) {
        this.files = files;
        this.limits = limits;
        this.mostAtRandom = mostAtRandom;
        this.usedBytes = usedBytes;
    }

    /**
     * A reader has opened a file.
     *
     * @param isCold whether it is neither in the cache nor on its way
     * @return whether files are to be fetched ahead: the caller then holds the stream, until {@link #next} has none
     */
    synchronized boolean opened(ObjectVersion version, boolean isCold) {
        int index = files.indexOf(version.key());
        if (index < 0) {
            return false;
        }
        switch (order.read(index, files.isWhole() ? files.size() : Integer.MAX_VALUE)) {
            case FIRST_IN_EPOCH -> {}
            case AGAIN -> {
                if (!isCold) {
                    return false;
                }
                cold = 0; // perhaps an epoch begins, whose own files have to show that it is read at random
            }
            case BEGINS_EPOCH -> beginEpoch();
        }
        Next fetched = dropAhead(index);
        if (fetched != null && !isCold) {
            usedBytes.add(fetched.version.size());
        }
        cold += isCold ? 1 : 0;
        known.set(index);
        readBytes += version.size();
        observe(index);
        boolean begins = !isHeld && shape != Shape.UNKNOWN && hasNext();
        isHeld |= begins;
        return begins;
    }

    @GuardedBy("this")
    private void beginEpoch() {
        known.clear();
        known.or(order.readInEpoch());
        ahead.clear(); // else those that are never read would take all of the room, epoch by epoch
        aheadBytes = 0;
        startOver();
    }

    @GuardedBy("this")
    private void startOver() {
        shape = Shape.UNKNOWN;
        cold = 0;
        listed = new OrderedRun(NEAR);
        repeated = new OrderedRun(Math.clamp(order.ranked() / NEAR_SHARE, NEAR, NEAR_IN_ORDER));
    }

    @GuardedBy("this")
    private void observe(int index) {
        int rank = order.rank(index);
        listed.add(index);
        repeated.add(rank);
        switch (shape) {
            case UNKNOWN -> find(index, rank);
            case IN_ORDER -> follow(listed);
            case REPEATED -> follow(repeated);
            case AT_RANDOM -> {}
        }
    }

    /** Files that the readers have passed over in this order, or that another one has fetched, are not ahead of them any more. */
    @GuardedBy("this")
    private void follow(OrderedRun run) {
        if (run.length() == 0) {
            shape = Shape.UNKNOWN;
            return;
        }
        Map.Entry<Integer, Next> eldest = ahead.firstEntry();
        while (eldest != null && (eldest.getValue().why != shape.ahead || run.hasPassed(eldest.getValue().place))) {
            Next _ = dropAhead(eldest.getKey());
            eldest = ahead.firstEntry();
        }
    }

    @GuardedBy("this")
    private void find(int index, int rank) {
        if (cold == 0) {
            return; // as far as is known all of them are in the cache
        }
        if (listed.length() >= RUN) {
            shape = Shape.IN_ORDER;
            next = index + 1;
        } else if (repeated.length() >= REPEATED_RUN) {
            shape = Shape.REPEATED;
            next = rank + 1;
        } else if (files.isWhole() && cold >= Math.max(LEAST, files.size() / SHARE)) {
            shape = Shape.AT_RANDOM;
            next = 0;
        }
    }

    @GuardedBy("this")
    private boolean hasNext() {
        long most = shape == Shape.AT_RANDOM
                ? mostAtRandom.getAsLong()
                : limits.get().maxWindowBytes();
        int end = shape == Shape.REPEATED ? order.ranked() : files.size();
        return next < end && aheadBytes < Math.min(most, AHEAD * readBytes);
    }

    /** The next file to fetch. If it is null, the caller no longer holds the stream. */
    synchronized @Nullable Next next() {
        while (shape != Shape.UNKNOWN && hasNext()) {
            int place = next++;
            int index = shape == Shape.REPEATED ? order.atRank(place) : place;
            ObjectVersion version = known.get(index) || ahead.containsKey(index) ? null : files.get(index);
            if (version != null
                    && version.size() > 0
                    && version.size() <= limits.get().smallFileBytes()) {
                Next file = new Next(index, place, version, shape.ahead);
                ahead.put(index, file);
                aheadBytes += version.size();
                return file;
            }
        }
        isHeld = false;
        return null;
    }

    /** Nothing of it was fetched: the cache had it, or the store no longer has it in this version. */
    synchronized void had(Next file) {
        Next _ = dropAhead(file.index);
        known.set(file.index);
    }

    /** There is no memory for it now: the caller no longer holds the stream, which goes on with the next file that is read. */
    synchronized void pause(Next file) {
        Next _ = dropAhead(file.index);
        next = Math.min(next, file.place);
        isHeld = false;
    }

    /**
     * Its GET has failed: it is left to its readers. Nothing else is fetched ahead until they have shown once more how they
     * read.
     */
    synchronized void failed(Next file) {
        had(file);
        startOver();
    }

    /** The file is not ahead of its readers any more. @return what was fetched; null if nothing was */
    @GuardedBy("this")
    private @Nullable Next dropAhead(int index) {
        Next fetched = ahead.remove(index);
        aheadBytes -= fetched == null ? 0 : fetched.version.size();
        return fetched;
    }

    /** Whether a newer listing may say more of the file: this one does not have it, or another version of it. */
    boolean isOutdatedFor(ObjectVersion version) {
        int index = files.indexOf(version.key());
        ObjectVersion inListing = index < 0 ? null : files.get(index);
        return inListing == null || !inListing.hasIdentityOf(version);
    }

    boolean isOf(DirectoryFiles listing) {
        return files.equals(listing);
    }

    /** The number of files that are listed, all of which it holds. */
    int size() {
        return files.size();
    }
}
