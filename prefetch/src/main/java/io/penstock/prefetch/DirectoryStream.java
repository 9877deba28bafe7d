package io.penstock.prefetch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ObjectVersion;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How a directory's small files are read, and what of them is to be fetched ahead.
 *
 * <pre>
 *            {@value #RUN} cold files, each near the one before
 *   UNKNOWN ──────────────────────────────────────────────────▶ IN_ORDER: what follows the last one
 *      │  ▲                                                       │
 *      │  └──────────────── one far away, or a failed GET ────────┘
 *      └──────────────────────────────────────────────────────▶ AT_RANDOM: all, from the first one on
 *            a {@value #SHARE}th of all files, {@value #LEAST} at least
 * </pre>
 *
 * <p>What is fetched ahead and not read yet is at most {@value #AHEAD} times what was read: a reader of few files has few
 * fetched in vain. Safe for use by any number of threads.
 */
final class DirectoryStream {
    /** Workers that share a list of files read them almost in order. */
    private static final int NEAR = 64;

    static final int RUN = 4;
    static final int SHARE = 64;
    static final int LEAST = 32;
    static final int AHEAD = 4;

    private enum Shape {
        UNKNOWN,
        IN_ORDER,
        AT_RANDOM
    }

    /** A file that is to be fetched ahead. */
    record Next(int index, ObjectVersion version) {}

    private final DirectoryFiles files;
    private final ReadaheadConfig config;
    private final LongSupplier mostAtRandom;
    private final LongAdder usedBytes;

    @GuardedBy("this")
    private Shape shape = Shape.UNKNOWN;

    /** What was fetched ahead, and not read since, by index. */
    @GuardedBy("this")
    private final Map<Integer, ObjectVersion> ahead = new HashMap<>();

    @GuardedBy("this")
    private long aheadBytes;

    /** Read, in the cache before, or not to be had. */
    @GuardedBy("this")
    private final BitSet known = new BitSet();

    @GuardedBy("this")
    private long readBytes;

    /** Files that had to be waited for. */
    @GuardedBy("this")
    private int cold;

    /** The file that was read last; -1 at the beginning. */
    @GuardedBy("this")
    private int last = -1;

    /** How many files came near the one before, without a break. */
    @GuardedBy("this")
    private int run;

    /** The first file that may be fetched next. */
    @GuardedBy("this")
    private int next;

    /** Whether a caller of {@link #opened} holds it: it is in the queue for a GET. */
    @GuardedBy("this")
    private boolean isHeld;

    /**
     * @param mostAtRandom most bytes to fetch ahead of a reader without an order
     * @param usedBytes counts what was fetched ahead and is read
     */
    DirectoryStream(DirectoryFiles files, ReadaheadConfig config, LongSupplier mostAtRandom, LongAdder usedBytes) {
        this.files = files;
        this.config = config;
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
        if (index < 0 || (known.get(index) && !isCold)) {
            return false;
        }
        ObjectVersion fetched = dropAhead(index);
        if (fetched != null && !isCold) {
            usedBytes.add(fetched.size());
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
    private void observe(int index) {
        run = last >= 0 && Math.abs(index - last) <= NEAR ? run + 1 : 0;
        last = index;
        if (run >= RUN && shape == Shape.UNKNOWN) {
            shape = Shape.IN_ORDER;
            next = index + 1;
        } else if (run == 0 && shape == Shape.IN_ORDER) {
            shape = Shape.UNKNOWN;
        }
        if (shape == Shape.UNKNOWN && files.isWhole() && cold >= Math.max(LEAST, files.size() / SHARE)) {
            shape = Shape.AT_RANDOM;
            next = 0;
        }
    }

    @GuardedBy("this")
    private boolean hasNext() {
        long most = shape == Shape.AT_RANDOM ? mostAtRandom.getAsLong() : config.maxWindowBytes();
        return next < files.size() && aheadBytes < Math.min(most, AHEAD * readBytes);
    }

    /** The next file to fetch. If it is null, the caller no longer holds the stream. */
    synchronized @Nullable Next next() {
        while (shape != Shape.UNKNOWN && hasNext()) {
            int index = next++;
            ObjectVersion version = known.get(index) || ahead.containsKey(index) ? null : files.get(index);
            if (version != null && version.size() > 0 && version.size() <= config.smallFileBytes()) {
                ahead.put(index, version);
                aheadBytes += version.size();
                return new Next(index, version);
            }
        }
        isHeld = false;
        return null;
    }

    /** The cache had it: nothing was fetched. */
    synchronized void had(Next file) {
        ObjectVersion _ = dropAhead(file.index);
        known.set(file.index);
    }

    /** There is no memory for it now: the caller no longer holds the stream, which goes on with the next file that is read. */
    synchronized void pause(Next file) {
        ObjectVersion _ = dropAhead(file.index);
        next = Math.min(next, file.index);
        isHeld = false;
    }

    /**
     * Its GET has failed, as it does if the listing is outdated: it is left to its readers. Nothing else is fetched ahead
     * until they have shown once more how they read.
     */
    synchronized void failed(Next file) {
        had(file);
        shape = Shape.UNKNOWN;
        cold = 0;
        run = 0;
    }

    /** The file is not ahead of its readers any more. @return what was fetched of it; null if nothing was */
    @GuardedBy("this")
    private @Nullable ObjectVersion dropAhead(int index) {
        ObjectVersion fetched = ahead.remove(index);
        aheadBytes -= fetched == null ? 0 : fetched.size();
        return fetched;
    }

    /** The number of files that are listed, all of which it holds. */
    int size() {
        return files.size();
    }
}
