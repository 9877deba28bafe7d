package io.penstock.prefetch;

import static io.penstock.cache.PageCache.PAGE_SIZE;

import io.penstock.core.ByteRange;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A sequentially read run of one file, and the readahead before it. Pure bookkeeping, without I/O and without a
 * lock: the {@link Streams} that holds it guards every field.
 *
 * <pre>
 *   start            end                      issued          end + window
 *     │     read      │ cached or in flight      │    not yet    │
 *     ├───────────────┼──────────────────────────┼───────────────┤──▶ offset
 * </pre>
 *
 * <p>A stream is <i>running</i> once enough was read sequentially to expect more; until then its window is 0. The
 * window is then a multiple of the bytes read, so unused readahead is at most the same multiple of the used bytes, as
 * in TCP's slow start.
 */
final class Stream {
    /**
     * A stream in the middle of a file runs once this much was read: more than the usual random record (a 256 KiB read,
     * which the kernel may send as several requests), and no more than one page, so that a reader that visits many
     * streams in turn finds the second page of each already in flight.
     */
    static final long RUNNING_AFTER = PAGE_SIZE;

    /**
     * The same for a stream from the file's first byte. A reader that begins there mostly reads to the end (cp,
     * sha256sum, torch.load, a data loader). One that reads only a header needs fewer than two of the kernel's 128 KiB
     * requests.
     */
    static final long RUNNING_AFTER_FROM_START = PAGE_SIZE / 4;

    /** The window of a stream in mid-file, as a multiple of the bytes read: it trebles each round trip. */
    static final int RAMP = 2;

    /** The same for a stream from the first byte. */
    static final int RAMP_FROM_START = 4;

    /** While the window grows, it is cut into at least this many GETs: more connections deliver the bytes earlier. */
    static final int RANGES_PER_WINDOW = 4;

    /** A gap up to this size touches no additional page, so it never ends a stream. */
    static final long SMALL_GAP = PAGE_SIZE / 16;

    /**
     * Longer gaps, up to this size, are allowed while at most a third of the stream is gaps. The size is that of one
     * GET: the bytes that a running stream skips were already in flight.
     */
    static final long MAX_GAP = 8L * PAGE_SIZE;

    /** Lost readahead halves the window's reach; then the reach grows again by this fraction of the bytes read. */
    static final int RECOVERY = 8;

    /**
     * How far back a stream remembers its reads. The kernel delivers readahead out of order, and its first and last
     * outstanding requests are at most this far apart (the largest read_ahead_kb in use, 16 MiB).
     */
    static final long MEMORY = 16L * PAGE_SIZE;

    private final Supplier<ReadaheadConfig> limits;
    private final long size;

    /** When the stream began, counted in reads of this file: the younger of two neighbors began later. */
    private long born;

    private long start;
    private long end;

    /** Where readahead continues: all pages before it were claimed at some time. At a page boundary, or the size. */
    private long issued;

    /** Bytes read, each counted once. */
    private long consumed;

    /** Bytes between start and end that were skipped and not read later. */
    private long skipped;

    /** Bytes of the first read: a single read is no sequence, however long. */
    private final long firstRead;

    /** Bytes read ahead and not yet reached by a read. */
    private long unused;

    /** Whether it began at the file's first byte. */
    private boolean fromStart;

    /** Another stream absorbed it, or it was dropped. */
    private boolean gone;

    /** The current limit of the window: less than the configured maximum after readahead was lost. */
    private long reach;

    /** Readahead ends before it. */
    private long aheadUntil;

    /** Missing pages before it belong to the last loss noticed. */
    private long lostUntil;

    /** Memory was short: no more readahead until the end reaches this offset. */
    private long pausedUntil;

    /** The stream's share of the window memory, in bytes. */
    private long share = Long.MAX_VALUE;

    /** The last read, counted in reads of this file. */
    long lastUse;

    /** The same in nanoseconds. {@link RunningStreams} writes this and the share. */
    volatile long readAt;

    volatile boolean shares;

    /** A caller holds the stream to start its readahead; no other may. */
    boolean queued;

    Stream(Supplier<ReadaheadConfig> limits, long size, long from, long to, long now) {
        this.limits = limits;
        this.size = size;
        this.start = from;
        this.end = to;
        this.fromStart = from == 0;
        this.reach = limits.get().maxWindowBytes();
        this.born = now;
        this.consumed = to - from;
        this.firstRead = to - from;
        this.issued = Math.min(pageCeiling(to), size);
    }

    long start() {
        return start;
    }

    long end() {
        return end;
    }

    long consumed() {
        return consumed;
    }

    /** Whether a read from there, not before the start, continues this stream, perhaps after a small gap. */
    boolean reaches(long from) {
        return from - end <= Math.max(SMALL_GAP, Math.min(MAX_GAP, consumed / 2 - skipped));
    }

    /** Adds a read that touches the stream, or that begins at or after its end. Returns whether the stream moved on. */
    boolean read(long from, long to) {
        if (from < start) { // backwards, or a first request that was overtaken
            consumed += start - from;
            start = from;
            fromStart = from == 0;
            rememberFromStart();
        } else if (to <= end) { // late, or repeated
            long late = Math.min(skipped, to - from);
            skipped -= late;
            consumed += late;
        }
        if (to <= end) {
            return false;
        }
        boolean continues = from >= end - SMALL_GAP;
        if (continues) {
            skipped += Math.max(0, from - end);
            consumed += to - Math.max(from, end);
        }
        moveTo(to);
        return continues;
    }

    /**
     * Absorbs the next stream, which this one has reached. Returns whether the next is the younger: then its requests
     * overtook others, and the stream continues at its end. If it is the older, the program reads backwards or again,
     * and no more reads are expected after it.
     */
    boolean absorb(Stream next) {
        long overlap = Math.min(end, next.end) - next.start;
        consumed += Math.max(0, next.consumed - overlap);
        skipped += next.skipped;
        unused += next.unused;
        aheadUntil = Math.max(aheadUntil, next.aheadUntil);
        reach = Math.min(reach, next.reach);
        issued = Math.max(issued, next.issued);
        boolean younger = next.born > born;
        born = Math.min(born, next.born);
        moveTo(Math.max(end, next.end));
        next.gone = true;
        return younger;
    }

    /** Forgets bytes far behind a reader that goes backwards, as for one that goes forwards. */
    private void rememberFromStart() {
        if (end - start > MEMORY) {
            end = start + MEMORY;
            issued = Math.min(pageCeiling(end), size);
        }
    }

    private void moveTo(long to) {
        reach = Math.min(limits.get().maxWindowBytes(), reach + (to - end) / RECOVERY);
        end = to;
        start = Math.max(start, end - MEMORY);
        issued = Math.max(issued, Math.min(pageCeiling(end), size));
    }

    /** Whether no second read has added bytes. */
    boolean isSingleRead() {
        return consumed <= firstRead;
    }

    boolean isRunning() {
        return consumed > firstRead && consumed >= (fromStart ? RUNNING_AFTER_FROM_START : RUNNING_AFTER);
    }

    /** How far readahead may run before the end now, in bytes. */
    long window() {
        if (!isRunning()) {
            return 0;
        }
        long most = Math.min(limits.get().maxWindowBytes(), Math.min(reach, share));
        return Math.min((fromStart ? RAMP_FROM_START : RAMP) * consumed, most);
    }

    /** Whether the stream has reached the end of the file. */
    boolean isAtEnd() {
        return end >= size;
    }

    void setShare(long bytes) {
        share = bytes;
    }

    /**
     * The end of the GET that begins at this page boundary. Ranges are aligned to their own size, so that the full
     * ranges of all streams and mounts are the same.
     */
    long rangeEnd(long from) {
        long share = Long.highestOneBit(window() / RANGES_PER_WINDOW);
        long length = Math.clamp(share, PAGE_SIZE, limits.get().rangeSizeBytes());
        return Math.min((from / length + 1) * length, size);
    }

    /** Whether a whole range fits into the window: single pages are not fetched as the window slides. */
    boolean wantsReadahead() {
        return !gone && isRunning() && issued < size && end >= pausedUntil && rangeEnd(issued) <= end + window();
    }

    /** The next range to read ahead, which counts as issued from now on; null if none is wanted. */
    @Nullable
    ByteRange issue() {
        if (!wantsReadahead()) {
            return null;
        }
        long from = issued;
        issued = rangeEnd(from);
        return new ByteRange(from, issued - from);
    }

    /** The end of a GET for a missing page at this offset: {@code to}, where the read ends, or later. */
    long issueOnDemand(long from, long to) {
        if (!isRunning()) {
            return to;
        }
        long page = from - from % PAGE_SIZE;
        if (to == end && page >= lostUntil && page < aheadUntil) {
            // It was read ahead and is gone: evicted before its use, or its GET failed.
            reach = Math.max(PAGE_SIZE, window() / 2);
            lostUntil = aheadUntil;
        }
        long until = Math.max(to, Math.min(rangeEnd(page), Math.min(end + window(), size)));
        if (page <= issued) {
            issued = Math.max(issued, Math.min(pageCeiling(until), size));
        }
        return until;
    }

    /** This part of the last issued range was claimed; the rest, if any, is still wanted. */
    void claimed(ByteRange range, ByteRange claim) {
        unused += claim.length();
        aheadUntil = Math.max(aheadUntil, claim.end());
        if (issued == range.end()) {
            issued = Math.max(claim.end(), Math.min(pageCeiling(end), size)); // the reader may be beyond it
        }
    }

    /** Drops the stream. */
    void forget() {
        gone = true;
    }

    /** How many of the bytes just read were read ahead. Readahead is used in order, so counting is enough. */
    long use(long bytes) {
        long used = Math.min(unused, bytes);
        unused -= used;
        return used;
    }

    /** Memory was short for the issued range that begins there: retries once the reader has moved on by a page. */
    void pause(long from) {
        issued = Math.clamp(from, Math.min(pageCeiling(end), size), issued);
        pausedUntil = end + PAGE_SIZE;
    }

    static long pageCeiling(long offset) {
        return (offset + PAGE_SIZE - 1) / PAGE_SIZE * PAGE_SIZE;
    }
}
