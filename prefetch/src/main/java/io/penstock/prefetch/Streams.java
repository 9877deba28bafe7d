package io.penstock.prefetch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.cache.PageCache;
import io.penstock.core.ByteRange;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The sequential streams of one file, detected from the reads of all its handles.
 *
 * <p>Recent reads are held as disjoint runs of bytes, each of them a {@link Stream}. A read extends the run that it
 * touches, joins runs that now touch, or begins one. If the kernel or the program reads with several threads, reads
 * overtake each other and make short runs; these join as late reads fill the gaps. Interleaved streams are runs far
 * apart, and random reads are runs that never grow. The order of arrival hardly matters, and no tolerance has to be
 * guessed.
 *
 * <p>Safe for use by any number of threads; each call holds the monitor for some tens of nanoseconds and never waits.
 */
final class Streams {
    /**
     * The maximum number of runs: 32 streams and as many runs of overtaking requests. Beyond it the least recently read
     * run is dropped.
     */
    static final int CAPACITY = 64;

    /**
     * A running stream counts as read this many reads later than it was, so that concurrent random reads do not soon
     * displace it.
     */
    private static final long RUNNING_BONUS = 1024;

    /** More than the kernel reads at once for a page fault in a map (readahead of 4 MiB, and what it marks in it). */
    static final long LONG_RUN = 16L * PageCache.PAGE_SIZE;

    /** Reads are random from this {@link #randomness} on. A program that begins fewer streams fetches whole pages. */
    static final int RANDOM_AFTER = 4;

    /** The limit of {@link #randomness}: however long reads were random, a few runs that continue end that. */
    private static final int MAX_RANDOMNESS = 2 * RANDOM_AFTER;

    /** The number of most recently read bytes that decide whether a file is streamed. */
    private static final long OF_LATE = 4 * LONG_RUN;

    private final Supplier<ReadaheadConfig> limits;
    private final long size;

    /** Runs of this many bytes or more are long: {@link #LONG_RUN}, or half of a file that is not much longer. */
    private final long longRun;

    private final LongAdder readaheadUsed;
    private final RunningStreams running;

    /** By start; disjoint, not touching. */
    @GuardedBy("this")
    private final List<Stream> runs = new ArrayList<>();

    /** Reads so far. */
    @GuardedBy("this")
    private long now;

    /** Rises by one with each run that begins, and falls by two when one continues: high where reads are random. */
    @GuardedBy("this")
    private int randomness;

    /** Bytes read in long runs, recent ones weighted more. */
    @GuardedBy("this")
    private long inLongRuns;

    /** The other bytes read, weighted likewise. */
    @GuardedBy("this")
    private long inShortRuns;

    /**
     * @param size bytes in the file
     * @param readaheadUsed counts bytes read that had been read ahead
     * @param running the running streams of the mount
     */
    Streams(Supplier<ReadaheadConfig> limits, long size, LongAdder readaheadUsed, RunningStreams running) {
        this.limits = limits;
        this.size = size;
        this.longRun = Math.min(LONG_RUN, size / 2);
        this.readaheadUsed = readaheadUsed;
        this.running = running;
    }

    /**
     * Notes a read of {@code [from, to)}, not empty and within the file.
     *
     * @return a stream that needs readahead, which the caller holds until {@link #issue} returns null; null if there is
     *     nothing to do
     */
    synchronized @Nullable Stream observe(long from, long to) {
        now++;
        int index = lastStartingBy(from);
        if (index < 0 || !runs.get(index).reaches(from)) {
            index++;
            if (index == runs.size() || runs.get(index).start() > to) {
                count(begin(index, from, to), to - from);
                return null;
            }
        }
        Stream stream = runs.get(index);
        long consumedBefore = stream.consumed();
        boolean wasSingle = stream.isSingleRead();
        boolean movedOn = stream.read(from, to);
        if (wasSingle && !stream.isSingleRead()) {
            randomness = Math.max(0, randomness - 2);
        }
        while (index + 1 < runs.size() && runs.get(index + 1).start() <= stream.end()) {
            movedOn &= stream.absorb(runs.get(index + 1));
            remove(index + 1);
        }
        stream.lastUse = now;
        share(stream);
        readaheadUsed.add(stream.use(stream.consumed() - consumedBefore));
        count(stream, to - from);
        if (!movedOn || stream.queued || !stream.wantsReadahead()) {
            return null;
        }
        stream.queued = true;
        return stream;
    }

    private void share(Stream stream) {
        if (stream.isAtEnd()) {
            running.ended(stream);
        } else if (stream.isRunning()) {
            stream.setShare(running.readFrom(stream));
        }
    }

    /** The file is closed: none of its streams runs. */
    synchronized void close() {
        runs.forEach(running::ended);
        runs.clear();
    }

    /**
     * The next range of this stream, which the caller holds from {@link #observe}; null if the stream wants none: then
     * the caller no longer holds it.
     */
    synchronized @Nullable ByteRange issue(Stream stream) {
        ByteRange range = stream.issue();
        stream.queued = range != null;
        return range;
    }

    /** This part of the range issued to the stream was claimed. */
    synchronized void claimed(Stream stream, ByteRange range, ByteRange claim) {
        stream.claimed(range, claim);
    }

    /** Memory was short for the issued range that begins there; the caller no longer holds the stream. */
    synchronized void pause(Stream stream, long from) {
        stream.pause(from);
        stream.queued = false;
    }

    /** Nothing can be read ahead now; the caller no longer holds the stream. */
    synchronized void giveBack(Stream stream) {
        stream.queued = false;
    }

    /** The end of the GET for a missing page at {@code from}, needed up to {@code to}: {@code to} or later. */
    synchronized long issueOnDemand(long from, long to) {
        int index = lastStartingBy(from);
        return index >= 0 && from < runs.get(index).end() ? runs.get(index).issueOnDemand(from, to) : to;
    }

    /** Whether the read at {@code from}, already noted, belonged to a running stream. */
    synchronized boolean isSequential(long from) {
        int index = lastStartingBy(from);
        return index >= 0 && from < runs.get(index).end() && runs.get(index).isRunning();
    }

    /**
     * Whether nothing suggests another read after the one at {@code from}, already noted: it began a run, and most runs
     * before it remained single reads.
     */
    synchronized boolean isRandom(long from) {
        int index = lastStartingBy(from);
        return randomness >= RANDOM_AFTER
                && (index < 0
                        || from >= runs.get(index).end()
                        || runs.get(index).isSingleRead());
    }

    /** Whether anything was read. */
    synchronized boolean isRead() {
        return now > 0;
    }

    /** Whether most recently read bytes belong to runs that the kernel's readahead alone does not make. */
    synchronized boolean isStreamed() {
        return inLongRuns > inShortRuns;
    }

    /** The number of sequential streams now. */
    synchronized int runningCount() {
        return (int) runs.stream().filter(Stream::isRunning).count();
    }

    @GuardedBy("this")
    private void count(Stream stream, long bytes) {
        if (stream.consumed() >= longRun) {
            inLongRuns += bytes;
        } else {
            inShortRuns += bytes;
        }
        if (inLongRuns + inShortRuns > 2 * OF_LATE) {
            inLongRuns /= 2;
            inShortRuns /= 2;
        }
    }

    /** The number of remembered runs. */
    synchronized int count() {
        return runs.size();
    }

    @GuardedBy("this")
    private Stream begin(int at, long from, long to) {
        int index = at;
        if (runs.size() == CAPACITY) {
            int victim = leastRecentlyUsed();
            runs.get(victim).forget();
            remove(victim);
            if (victim < index) {
                index--;
            }
        }
        randomness = Math.min(MAX_RANDOMNESS, randomness + 1);
        Stream stream = new Stream(limits, size, from, to, now);
        runs.add(index, stream);
        return stream;
    }

    @GuardedBy("this")
    private void remove(int index) {
        running.ended(runs.remove(index));
    }

    @GuardedBy("this")
    private int leastRecentlyUsed() {
        int victim = 0;
        for (int i = 1; i < runs.size(); i++) {
            if (dueAt(runs.get(i)) < dueAt(runs.get(victim))) {
                victim = i;
            }
        }
        return victim;
    }

    private static long dueAt(Stream stream) {
        return stream.lastUse + (stream.isRunning() ? RUNNING_BONUS : 0);
    }

    @GuardedBy("this")
    private int lastStartingBy(long offset) {
        int low = 0;
        int high = runs.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (runs.get(middle).start() <= offset) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low - 1;
    }
}
