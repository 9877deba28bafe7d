package io.penstock.cache;

import io.penstock.cache.disk.PageGeometry;
import io.penstock.core.ByteRange;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A claimed run of pages on its way from Missing to Ready. Filled in order by one thread at a time; each page turns
 * Ready as its last byte arrives, and readers wake as the bytes they wait for arrive.
 *
 * <p>Every fill ends: by its last byte, or by {@link #fail}. A thread that has to end one must not wait in
 * {@link CachedObject#claim} before that.
 */
public final class Fill {
    private final ObjectPages object;
    private final List<PageFrame> frames;

    /** Frames before it are complete. Written by the one thread that fills; others only look ahead of it. */
    private volatile int current;

    private final Urgency urgency;
    private final long memoryNanos;

    /** Whether and how far its pages are written: decided at the first. Confined to the thread that fills. */
    private long mostUnwritten;

    /** @param memoryNanos that the claim has waited for memory */
    Fill(ObjectPages object, List<PageFrame> frames, Urgency urgency, long memoryNanos) {
        this.object = object;
        this.frames = List.copyOf(frames);
        this.urgency = urgency;
        this.memoryNanos = memoryNanos;
    }

    /** How long the claim has waited for memory: nanoseconds; 0 if there was some. */
    public long memoryNanos() {
        return memoryNanos;
    }

    /** The bytes to fetch: whole pages, the object's last one cut at its size. */
    public ByteRange range() {
        PageGeometry geometry = object.geometry();
        long start = geometry.start(frames.getFirst().page());
        PageFrame last = frames.getLast();
        return new ByteRange(start, geometry.start(last.page()) + last.length() - start);
    }

    /**
     * The memory to put the next bytes in: the rest of the current page.
     *
     * @throws IllegalStateException if the fill has ended
     */
    public ByteBuffer buffer() {
        return currentFrame().rest();
    }

    /**
     * Tells that so many more bytes lie in the buffer last handed out.
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
     * Turns the pages that are not Ready yet back to Missing and wakes their readers with the cause. Does nothing once
     * the fill has ended. To be called once no thread writes into a buffer of this fill any more: its memory is
     * another page's next.
     */
    public void fail(Exception cause) {
        for (int i = current; i < frames.size(); i++) {
            current = i + 1;
            object.failed(frames.get(i), cause);
        }
    }

    /** Whether a reader waits for a page of this fill that is not Ready yet. May be asked by any thread. */
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
