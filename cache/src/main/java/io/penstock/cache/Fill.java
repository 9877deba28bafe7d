package io.penstock.cache;

import io.penstock.cache.disk.PageGeometry;
import io.penstock.core.ByteRange;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A claimed run of pages on its way from Missing to Ready. Filled in order by one thread at a time. Each page becomes
 * Ready when its last byte arrives, and readers wake as soon as the bytes they wait for are there.
 *
 * <p>Every fill ends: by its last byte, or by {@link #fail}. A thread that must end a fill must not wait in
 * {@link CachedObject#claim} before it has.
 */
public final class Fill {
    private final ObjectPages object;
    private final List<PageFrame> frames;

    /** Index of the first incomplete frame. Written by the one thread that fills; others only look from there on. */
    private volatile int current;

    private final Urgency urgency;
    private final long memoryNanos;

    /** Limit for writing the fill's pages to disk, decided at the first page. Confined to the thread that fills. */
    private long mostUnwritten;

    /** @param memoryNanos how long the claim waited for memory */
    Fill(ObjectPages object, List<PageFrame> frames, Urgency urgency, long memoryNanos) {
        this.object = object;
        this.frames = List.copyOf(frames);
        this.urgency = urgency;
        this.memoryNanos = memoryNanos;
    }

    /** How long the claim waited for memory, in nanoseconds; 0 if there was some. */
    public long memoryNanos() {
        return memoryNanos;
    }

    /** The bytes to fetch: whole pages, except that the object's last page ends with the object. */
    public ByteRange range() {
        PageGeometry geometry = object.extents().geometry();
        long start = geometry.start(frames.getFirst().page());
        PageFrame last = frames.getLast();
        return new ByteRange(start, geometry.start(last.page()) + last.length() - start);
    }

    /** The memory for the next bytes: the rest of the current page. */
    public ByteBuffer buffer() {
        return currentFrame().rest();
    }

    /**
     * Reports that this many more bytes are in the buffer that {@link #buffer} last returned.
     *
     * @param bytes from 0 to the remaining bytes of that buffer
     */
    public void filled(int bytes) {
        PageFrame frame = currentFrame();
        frame.arrived(bytes);
        if (frame.isComplete()) {
            int next = current + 1; // not ++: only this thread writes it
            if (next == 1) {
                mostUnwritten = object.mostUnwritten(frame, urgency);
            }
            current = next;
            object.completed(frame, mostUnwritten);
        }
    }

    /**
     * Turns the pages that are not yet Ready back to Missing and wakes their readers with the cause. Does nothing once
     * the fill has ended. Call it only once no thread writes to this fill's buffers: another page may get the memory.
     */
    public void fail(Exception cause) {
        for (int i = current; i < frames.size(); i++) {
            current = i + 1;
            object.failed(frames.get(i), cause);
        }
    }

    /** Whether a reader waits for a page of this fill that is not yet Ready. Any thread may call this. */
    public boolean awaited() {
        for (int i = current; i < frames.size(); i++) {
            if (frames.get(i).isAwaited()) {
                return true;
            }
        }
        return false;
    }

    private PageFrame currentFrame() {
        if (current == frames.size()) {
            throw new IllegalStateException("this fill has ended");
        }
        return frames.get(current);
    }
}
