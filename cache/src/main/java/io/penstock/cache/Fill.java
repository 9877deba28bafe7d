package io.penstock.cache;

import io.penstock.core.ByteRange;
import java.nio.ByteBuffer;

/**
 * A claimed run of pages on its way from Missing to Ready. Filled in order by one thread at a time; each page turns
 * Ready as its last byte arrives, and readers wake as the bytes they wait for arrive.
 */
public final class Fill {
    private Fill() {}

    /** The bytes to fetch: whole pages, the object's last one cut at its size. */
    public ByteRange range() {
        throw new UnsupportedOperationException();
    }

    /** The memory to put the next bytes in: what is left of the current page. */
    public ByteBuffer buffer() {
        throw new UnsupportedOperationException();
    }

    /** Tells that so many more bytes lie in the buffer last handed out. */
    public void filled(int bytes) {
        throw new UnsupportedOperationException();
    }

    /** Turns the pages that are not Ready yet back to Missing and wakes their readers with the cause. */
    public void fail(Exception cause) {
        throw new UnsupportedOperationException();
    }

    /** Whether a reader waits for a page of this fill that is not Ready yet. */
    public boolean awaited() {
        throw new UnsupportedOperationException();
    }
}
