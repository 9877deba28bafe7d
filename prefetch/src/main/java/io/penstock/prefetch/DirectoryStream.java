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
 * The order in which a directory's small files are read, and which of them to fetch ahead.
 *
 * <pre>
 *            {@value #RUN} files, each near the one before
 *   UNKNOWN ──────────────────────────────────────────────────▶ IN_ORDER: the files after the last one read
 *    │ │ ▲                                                        │
 *    │ │ ├──────────────── one far away, or a failed GET ─────────┤
 *    │ └─────────────────────────────────────────────────────▶ REPEATED: the files after it in the previous epoch
 *    │       {@value #REPEATED_RUN}, each near the one before in the order of the previous epoch
 *    └───────────────────────────────────────────────────────▶ AT_RANDOM: all files, from the first one
 *            a {@value #SHARE}th of all files, at least {@value #LEAST}
 * </pre>
 *
 * <p>Each epoch begins with UNKNOWN, and nothing is fetched ahead until a reader had to wait for one of the files. The
 * files fetched ahead and not read yet have at most {@value #AHEAD} times the bytes of the files read: a reader of few
 * files causes few useless fetches. Safe for use by any number of threads.
 */
final class DirectoryStream {
    static final int RUN = 4;
    static final int REPEATED_RUN = 16;
    static final int SHARE = 64;
    static final int LEAST = 32;
    static final int AHEAD = 4;

    /** Workers that share a list of files read them almost in order. */
    private static final int NEAR = 64;

    /** The same in a repeated order, where each worker takes a batch: at most this, and a share of all files. */
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
     * A file to fetch ahead.
     *
     * @param place its index, or its place in the repeated order
     */
    record Next(int index, int place, ObjectVersion version, FetchedAhead why) {
        /** In a known order its reader is near. Most files of a whole directory are read much later, from the disk. */
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

    /** The files fetched ahead and not read since, by index, in the order of their fetches. */
    @GuardedBy("this")
    private final SequencedMap<Integer, Next> ahead = new LinkedHashMap<>();

    @GuardedBy("this")
    private long aheadBytes;

    @GuardedBy("this")
    private final ReadOrder order = new ReadOrder();

    /** Files that were read in this epoch, were already in the cache, or could not be fetched. */
    @GuardedBy("this")
    private final BitSet known = new BitSet();

    @GuardedBy("this")
    private long readBytes;

    /** Files that readers had to wait for since the epoch began, or since a file was read again. */
    @GuardedBy("this")
    private int cold;

    /** By index. */
    @GuardedBy("this")
    private OrderedRun listed = new OrderedRun(NEAR);

    /** By their place in the order of the previous epoch. */
    @GuardedBy("this")
    private OrderedRun repeated = new OrderedRun(NEAR);

    /** The first file that may be fetched next: its index, or its place in the order of the previous epoch. */
    @GuardedBy("this")
    private int next;

    /** Whether a caller of {@link #opened} holds the stream: it is in the queue for a GET. */
    @GuardedBy("this")
    private boolean isHeld;

    /**
     * @param mostAtRandom the most bytes to fetch ahead of a reader without a known order
     * @param usedBytes counts the bytes that were fetched ahead and then read
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
     * @param isCold whether the file is neither in the cache nor in flight
     * @return whether to fetch files ahead: the caller then holds the stream until {@link #next} returns null
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
                cold = 0; // perhaps an epoch begins; its own files must show that they are read at random
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
        ahead.clear(); // else files that are never read would use up the limit, epoch by epoch
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

    /** Drops the files that the readers have passed in this order, or that were fetched for another one. */
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
            return; // as far as we know, all of them are in the cache
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

    /** The next file to fetch. If null, the caller no longer holds the stream. */
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

    /** Nothing was fetched: the cache had the file, or the store no longer has this version of it. */
    synchronized void had(Next file) {
        Next _ = dropAhead(file.index);
        known.set(file.index);
    }

    /** Memory is short: the caller no longer holds the stream, which continues when the next file is read. */
    synchronized void pause(Next file) {
        Next _ = dropAhead(file.index);
        next = Math.min(next, file.place);
        isHeld = false;
    }

    /**
     * The GET of this file failed, so the file is left to its readers. Nothing else is fetched ahead until they have
     * shown a pattern again.
     */
    synchronized void failed(Next file) {
        had(file);
        startOver();
    }

    /** The file is no longer ahead of its readers. @return what was fetched; null if nothing was */
    @GuardedBy("this")
    private @Nullable Next dropAhead(int index) {
        Next fetched = ahead.remove(index);
        aheadBytes -= fetched == null ? 0 : fetched.version.size();
        return fetched;
    }

    /** Whether a newer listing may know more about the file: this one lacks it, or has another version of it. */
    boolean isOutdatedFor(ObjectVersion version) {
        int index = files.indexOf(version.key());
        ObjectVersion inListing = index < 0 ? null : files.get(index);
        return inListing == null || !inListing.hasIdentityOf(version);
    }

    boolean isOf(DirectoryFiles listing) {
        return files.equals(listing);
    }

    /** The number of listed files, all of which are on the heap. */
    int size() {
        return files.size();
    }
}
