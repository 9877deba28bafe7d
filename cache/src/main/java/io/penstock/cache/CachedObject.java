package io.penstock.cache;

import io.penstock.core.ObjectVersion;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The pages of one object version. Safe for use by any number of threads; all calls are positional. */
public final class CachedObject implements AutoCloseable {
    /** What {@link #read} and {@link #readNow} return instead of a byte count when the page is Missing. */
    public static final int MISSING = -1;

    /** What {@link #readNow} returns instead of a byte count when the bytes are not in memory but may be had by waiting. */
    public static final int WOULD_WAIT = -2;

    private CachedObject() {}

    public ObjectVersion version() {
        throw new UnsupportedOperationException();
    }

    /** A snapshot: it may be another by the time that it is returned. */
    public PageState state(long page) {
        throw new UnsupportedOperationException();
    }

    /**
     * Claims the first run of Missing pages within {@code [fromPage, toPage)}: turns them Inflight, for the caller alone
     * to fill. Every claim must be filled or failed. The run ends early at a page that is not Missing or for which there
     * is no memory.
     *
     * @return null if no page in it is Missing, or, for {@link Urgency#READAHEAD}, if memory is short;
     *     {@link Urgency#DEMAND} waits for memory instead
     */
    public @Nullable Fill claim(long fromPage, long toPage, Urgency urgency) throws InterruptedException {
        throw new UnsupportedOperationException();
    }

    /**
     * Copies bytes from the one page that holds {@code position}, up to the page's end or the buffer's limit. Waits
     * while the page is Inflight, but only until the bytes asked for have arrived.
     *
     * @return the number of bytes copied, or {@link #MISSING}
     * @throws FillFailedException if the fill that was waited for failed
     */
    public int read(long position, ByteBuffer to) throws FillFailedException, InterruptedException {
        throw new UnsupportedOperationException();
    }

    /** Like {@link #read}, but never waits, not for the disk either: {@link #WOULD_WAIT} instead. */
    public int readNow(long position, ByteBuffer to) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
}
