package io.penstock.filesystem.files;

import io.penstock.cache.disk.WholeFile;
import io.penstock.core.LentBytes;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.prefetch.ObjectReader;
import io.penstock.writeback.WrittenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a {@link SharedFile}: those of a version in the store, read through the cache, and once the file is
 * opened for writing those of the {@link WrittenFile} over it. Changed under the file's monitor, read without it.
 */
public final class SharedContent {
    /** {@code FileSystem.WOULD_WAIT}. */
    public static final int WOULD_WAIT = -1;

    private volatile @Nullable WrittenFile written;
    private volatile @Nullable ObjectReader reader;

    /** Its version in the store, as far as it is known here; null if there is none yet. */
    private volatile @Nullable ObjectVersion stored;

    /** How often its bytes have moved to another place; incremented after each move. */
    private final AtomicInteger places = new AtomicInteger();

    /** The number of truncations to a smaller size that the kernel does not know yet. Written with the monitor held. */
    private volatile int cuts;

    /** Readers that threads may still use after a rename. */
    private final List<ObjectReader> former = new ArrayList<>();

    SharedContent(ObjectVersion version, ObjectReader reader) {
        this.stored = version;
        this.reader = reader;
    }

    SharedContent(WrittenFile written) {
        this.written = written;
        this.stored = written.inherited(); // as if it had been opened and truncated here
    }

    @Nullable
    WrittenFile written() {
        return written;
    }

    @Nullable
    ObjectVersion stored() {
        return stored;
    }

    /** The version with exactly this content: null if there is none. */
    @Nullable
    ObjectVersion version() {
        WrittenFile content = written;
        return content == null ? stored : content.version();
    }

    long size() {
        WrittenFile content = written;
        if (content != null) {
            return content.size();
        }
        ObjectVersion version = stored;
        return version == null ? 0 : version.size();
    }

    // ---- reading

    /**
     * Reads until the buffer is full or the file ends. If the file is written, truncated or renamed here during the
     * read, all of it is read again from the new place.
     *
     * @param position in bytes from the start of the file
     * @param loans receives bytes that are lent instead of copied; null if none may be
     * @return bytes read
     * @throws ObjectStoreException.NotFound if the version is gone for another reason
     * @throws ObjectStoreException.PreconditionFailed the same
     */
    public int read(long position, ByteBuffer to, @Nullable LentBytes loans)
            throws ObjectStoreException, IOException, InterruptedException {
        int start = to.position();
        while (true) {
            int place = places.get();
            try {
                awaitCuts();
                int read = readOnce(position, to, loans);
                if (place == places.get()) {
                    return read;
                }
            } catch (ObjectStoreException.NotFound | ObjectStoreException.PreconditionFailed e) {
                if (place == places.get()) {
                    throw e;
                }
            }
            to.position(start);
            if (loans != null) {
                loans.giveBack();
            }
        }
    }

    private int readOnce(long position, ByteBuffer to, @Nullable LentBytes loans)
            throws ObjectStoreException, IOException, InterruptedException {
        WrittenFile content = written;
        if (content != null) {
            return content.read(position, to);
        }
        ObjectReader open = reader;
        return open == null ? 0 : open.read(position, to, loans);
    }

    /**
     * The file is about to be truncated. Reads wait until {@link #cutEnds}, which must be called once the kernel knows
     * the new size: if a read returns less than the kernel's size promises, the kernel fills up with zeros
     * (fuse_short_read in fs/fuse/file.c).
     */
    public synchronized void cutBegins() {
        cuts++;
        places.incrementAndGet();
    }

    public synchronized void cutEnds() {
        cuts--;
        notifyAll();
    }

    private void awaitCuts() throws InterruptedException {
        if (cuts > 0) {
            synchronized (this) {
                while (cuts > 0) {
                    wait();
                }
            }
        }
    }

    /** {@link #read} if all of it is in memory: {@link #WOULD_WAIT} if not. */
    public int readNow(long position, ByteBuffer to, @Nullable LentBytes loans) {
        ObjectReader open = reader;
        return written == null && open != null ? open.readNow(position, to, loans) : WOULD_WAIT;
    }

    /** As defined by {@code FileSystem.lseek}; -1 if there is none. */
    public long seek(long offset, boolean hole) {
        WrittenFile content = written;
        if (content != null) {
            return content.seek(offset, hole);
        }
        long size = size();
        return offset >= size ? -1 : hole ? size : offset;
    }

    /** Whether it is not being written, and the cache has all of it. */
    public boolean isWhole() {
        ObjectReader open = reader;
        return written == null && open != null && open.isWhole();
    }

    /** {@link ObjectReader#completeAtClose}, unless it is being written. */
    public void completeAtClose() {
        ObjectReader open = reader;
        if (written == null && open != null) {
            open.completeAtClose();
        }
    }

    /** Whether it is not being written, and {@link ObjectReader#isStreamed}. */
    public boolean isStreamed() {
        ObjectReader open = reader;
        return written == null && open != null && open.isStreamed();
    }

    /** The cache's file of it, if it {@linkplain #isWhole is whole}: null if it is not, or cannot be handed out yet. */
    public @Nullable WholeFile wholeFile(boolean verified) {
        ObjectReader open = reader;
        return written == null && open != null ? open.wholeFile(verified) : null;
    }

    // ---- from one version to the next; under the file's monitor

    /** It is read from and written to this content from now on. */
    void becomeWritten(WrittenFile content) {
        written = content;
        places.incrementAndGet();
    }

    /** The store has this version of it now. */
    void committed(ObjectVersion version) {
        stored = version;
    }

    /** It takes the name of this object now, and shares no content with it; null if there is none. */
    void inPlaceOf(@Nullable ObjectVersion version) {
        stored = version;
    }

    /**
     * Whether the store has all of it, and {@link #committed} was called. This includes the time while the name is
     * being removed: an object committed then must be known, so that it is deleted.
     */
    boolean isCommitted() {
        WrittenFile content = written;
        ObjectVersion version = stored;
        return content == null || (version != null && version.equals(content.version()));
    }

    /** The store has its committed content under another name, as this version, and the old name is gone. */
    void moved(ObjectVersion version, Function<ObjectVersion, ObjectReader> opening) {
        stored = version;
        WrittenFile content = written;
        ObjectReader open = reader;
        if (content != null) {
            content.moved(version);
        } else if (open != null) {
            reader = opening.apply(version);
            former.add(open);
        }
        places.incrementAndGet();
    }

    /** Closes the readers through the cache, once no thread uses them. */
    void close() {
        ObjectReader open = reader;
        if (open != null) {
            open.close();
        }
        former.forEach(ObjectReader::close);
    }
}
