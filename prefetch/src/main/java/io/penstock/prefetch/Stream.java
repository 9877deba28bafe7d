package io.penstock.prefetch;

import static io.penstock.cache.PageCache.PAGE_SIZE;

import io.penstock.core.ByteRange;
import org.jspecify.annotations.Nullable;

/**
 * A run of one file that is being read in sequence, and how far readahead runs before it. Pure bookkeeping: no I/O, no
 * lock of its own; every field is guarded by the {@link Streams} that holds it.
 *
 * <pre>
 *   start            end                      issued          end + window
 *     │  was read     │  claimed, here or coming │   not yet     │
 *     ├───────────────┼──────────────────────────┼───────────────┤──▶ offset
 * </pre>
 *
 * <p>A stream is <i>running</i> once it has read so much in sequence that more may be expected; until then its window
 * is 0. From there the window is a multiple of what was read, so that bytes read ahead and never used are bounded by
 * the same multiple of the bytes that were: slow start, as TCP does it.
 */
final class Stream {
    /**
     * A stream in the middle of a file runs once it has read this much: more than the usual random record (a 256 KiB
     * read, which the kernel may send as several requests), and no more than one page, so that the second page of a
     * reader that visits many streams in turn is already on its way.
     */
    static final long RUNNING_AFTER = PAGE_SIZE;

    /**
     * The same for a stream from the file's first byte. Whoever begins there mostly reads on to the end (cp, sha256sum,
     * torch.load, a data loader); who only looks at a header is content with less than two of the kernel's 128 KiB
     * requests.
     */
    static final long RUNNING_AFTER_FROM_START = PAGE_SIZE / 4;

    /** How many times what was read a stream may run ahead in the middle of a file: it trebles each round trip. */
    static final int RAMP = 2;

    /** The same for a stream from the first byte. */
    static final int RAMP_FROM_START = 4;

    /** While the window grows, it is cut into this many GETs at least: more connections, earlier bytes. */
    static final int RANGES_PER_WINDOW = 4;

    /** A gap as short as this costs no page that would not be touched anyway, so it never ends a stream. */
    static final long SMALL_GAP = PAGE_SIZE / 16;

    /**
     * Longer gaps are forgiven while at most a third of the stream is gaps, and each up to here: the reach of one GET.
     * What a running stream skips was on its way already.
     */
    static final long MAX_GAP = 8L * PAGE_SIZE;

    /** After a loss, which halves it, the window's reach grows again by this part of what is read. */
    static final int RECOVERY = 8;

    /**
     * How far back a stream remembers what it read. The kernel delivers readahead out of order, and at most this much
     * (the largest read_ahead_kb in use, 16 MiB) lies between the first and the last of the requests it has out.
     */
    static final long MEMORY = 16L * PAGE_SIZE;

    private final ReadaheadConfig config;
    private final long size;

    /** When the stream began, in reads of this file: the younger of two neighbours is the later one in time. */
    private long born;

    private long start;
    private long end;

    /** Where readahead goes on: all before it was claimed by somebody at some time. On a page's edge, or the size. */
    private long issued;

    /** Bytes read, each counted once. */
    private long consumed;

    /** Bytes between start and end that were passed over and did not come late. */
    private long skipped;

    /** Bytes of the first read: one read alone is no sequence, however long. */
    private final long firstRead;

    /** Bytes read ahead that no read has reached yet. */
    private long unused;

    /** Whether it began at the file's first byte. */
    private boolean fromStart;

    /** Another stream took it over, or it was forgotten. */
    private boolean gone;

    /** How far the window may reach for now: less than the configured most after readahead was lost. */
    private long reach;

    /** What was read ahead lies before it. */
    private long aheadUntil;

    /** What is missing before it belongs to the loss that was noticed last. */
    private long lostUntil;

    /** Memory was short: no more readahead until the end has come here. */
    private long pausedUntil;

    /** Bytes that its window may take of what all streams share. */
    private long share = Long.MAX_VALUE;

    /** When it was last read from, in reads of this file. */
    long lastUse;

    /** The same in nanoseconds. Written by {@link RunningStreams}, as is whether the stream has a share there. */
    volatile long readAt;

    volatile boolean shares;

    /** Someone holds it in order to start its readahead, and no one else may. */
    boolean queued;

    Stream(ReadaheadConfig config, long size, long from, long to, long now) {
        this.config = config;
        this.size = size;
        this.start = from;
        this.end = to;
        this.fromStart = from == 0;
        this.reach = config.maxWindowBytes();
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

    /** Whether a read from there (not before the start) belongs to this stream: it goes on here, or passed over little. */
    boolean reaches(long from) {
        return from - end <= Math.max(SMALL_GAP, Math.min(MAX_GAP, consumed / 2 - skipped));
    }

    /** Takes in a read that it reaches, or that ends where it begins or later. Returns whether the stream moved on. */
    boolean read(long from, long to) {
        if (from < start) { // backwards, or a first request that came late
            consumed += start - from;
            start = from;
            fromStart = from == 0;
            rememberFromStart();
        } else if (to <= end) { // late, or once more
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
     * Takes over the next stream, which this one has reached. Returns whether the next is the younger: then it was a
     * run of requests that overtook others, and the stream goes on from its end. If it is the older, someone reads
     * backwards or once more, and nothing says that what follows will be wanted.
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

    /** What lies farther behind a reader who goes backwards is as forgotten as it is behind one who goes on. */
    private void rememberFromStart() {
        if (end - start > MEMORY) {
            end = start + MEMORY;
            issued = Math.min(pageCeiling(end), size);
        }
    }

    private void moveTo(long to) {
        reach = Math.min(config.maxWindowBytes(), reach + (to - end) / RECOVERY);
        end = to;
        start = Math.max(start, end - MEMORY);
        issued = Math.max(issued, Math.min(pageCeiling(end), size));
    }

    boolean isRunning() {
        return consumed > firstRead && consumed >= (fromStart ? RUNNING_AFTER_FROM_START : RUNNING_AFTER);
    }

    /** How far readahead may run before the end now, in bytes. */
    long window() {
        if (!isRunning()) {
            return 0;
        }
        return Math.min((fromStart ? RAMP_FROM_START : RAMP) * consumed, Math.min(reach, share));
    }

    /** Whether nothing of the file is left behind it. */
    boolean isAtEnd() {
        return end >= size;
    }

    void setShare(long bytes) {
        share = bytes;
    }

    /**
     * Where the GET that begins at a page's edge ends: ranges lie on multiples of their own size, so that full ones of
     * all streams and mounts are the same ranges.
     */
    long rangeEnd(long from) {
        long share = Long.highestOneBit(window() / RANGES_PER_WINDOW);
        long length = Math.clamp(share, PAGE_SIZE, config.rangeSizeBytes());
        return Math.min((from / length + 1) * length, size);
    }

    /** Whether a whole range fits into the window: never a dribble of single pages as the window slides. */
    boolean wantsReadahead() {
        return !gone && isRunning() && issued < size && end >= pausedUntil && rangeEnd(issued) <= end + window();
    }

    /** The next range to read ahead, which from now on counts as issued; null if none is wanted. */
    @Nullable
    ByteRange issue() {
        if (!wantsReadahead()) {
            return null;
        }
        long from = issued;
        issued = rangeEnd(from);
        return new ByteRange(from, issued - from);
    }

    /** How far a GET for a missing page at this offset should run on: at least to {@code to}, where the read ends. */
    long issueOnDemand(long from, long to) {
        if (!isRunning()) {
            return to;
        }
        long page = from - from % PAGE_SIZE;
        if (to == end && page >= lostUntil && page < aheadUntil) {
            // It was read ahead and is gone: given up for other pages before it was used, or its GET failed.
            reach = Math.max(PAGE_SIZE, window() / 2);
            lostUntil = aheadUntil;
        }
        long until = Math.max(to, Math.min(rangeEnd(page), Math.min(end + window(), size)));
        if (page <= issued) {
            issued = Math.max(issued, Math.min(pageCeiling(until), size));
        }
        return until;
    }

    /** Of the range last issued, this was claimed; the rest of it, if any, is wanted still. */
    void claimed(ByteRange range, ByteRange claim) {
        unused += claim.length();
        aheadUntil = Math.max(aheadUntil, claim.end());
        if (issued == range.end()) {
            issued = Math.max(claim.end(), Math.min(pageCeiling(end), size)); // the reader may have gone on past it
        }
    }

    /** It is no longer remembered. */
    void forget() {
        gone = true;
    }

    /** How many of so many bytes just read had been read ahead. Readahead is used in order, so counting is enough. */
    long use(long bytes) {
        long used = Math.min(unused, bytes);
        unused -= used;
        return used;
    }

    /** Memory was short for the issued range that begins there: tries again once the reader has moved on by a page. */
    void pause(long from) {
        issued = Math.clamp(from, Math.min(pageCeiling(end), size), issued);
        pausedUntil = end + PAGE_SIZE;
    }

    static long pageCeiling(long offset) {
        return (offset + PAGE_SIZE - 1) / PAGE_SIZE * PAGE_SIZE;
    }
}
