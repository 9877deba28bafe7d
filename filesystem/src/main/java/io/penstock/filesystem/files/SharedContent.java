package io.penstock.filesystem.files;

import io.penstock.core.LentBytes;
import io.penstock.core.NoWait;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.prefetch.ObjectReader;
import io.penstock.writeback.WrittenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a {@link SharedFile}: clean, as a version in the store has them, or dirty from the first open for
 * writing on. Changed under its own monitor, and except for {@link #cutBegins} within the file's; read without either.
 */
public final class SharedContent {
    /** Where the bytes are. Replaced by another instance whenever they move, so that running reads notice it. */
    private sealed interface Content {}

    /** Read through the cache. */
    private record Clean(ObjectVersion version, ObjectReader reader) implements Content {}

    private static final class Dirty implements Content {
        final WrittenFile file;

        /** Its version in the store, as far as it is known here; null if there is none yet. */
        volatile @Nullable ObjectVersion stored;

        Dirty(WrittenFile file, @Nullable ObjectVersion stored) {
            this.file = file;
            this.stored = stored;
        }
    }

    /** Written with the monitor held. */
    private volatile Content content;

    /** The number of truncations to a smaller size that the kernel does not know yet. Written with the monitor held. */
    private volatile int cuts;

    /** All that were opened: threads may still use them after a rename or the first open for writing. */
    private final List<ObjectReader> readers = new ArrayList<>();

    SharedContent(ObjectVersion version, ObjectReader reader) {
        this.content = new Clean(version, reader);
        this.readers.add(reader);
    }

    SharedContent(WrittenFile written) {
        this.content = new Dirty(written, written.inherited()); // as if it had been opened and truncated here
    }

    /** The reader of its version; null once it is opened for writing. */
    public @Nullable ObjectReader reader() {
        return content instanceof Clean clean ? clean.reader : null;
    }

    /** Its written content; null until it is opened for writing. */
    @Nullable
    WrittenFile written() {
        return content instanceof Dirty dirty ? dirty.file : null;
    }

    /** Its version in the store, as far as it is known here; null if there is none yet. */
    @Nullable
    ObjectVersion stored() {
        return switch (content) {
            case Clean clean -> clean.version;
            case Dirty dirty -> dirty.stored;
        };
    }

    /** The version with exactly this content: null if there is none. */
    @Nullable
    ObjectVersion version() {
        return switch (content) {
            case Clean clean -> clean.version;
            case Dirty dirty -> dirty.file.version();
        };
    }

    long size() {
        return switch (content) {
            case Clean clean -> clean.version.size();
            case Dirty dirty -> dirty.file.size();
        };
    }

    // ---- reading

    /**
     * Reads until the buffer is full or the file ends. If the file is written, truncated or renamed here during the
     * read, all of it is read again from the new place.
     *
     * @param position in bytes from the start of the file
     * @param loans receives bytes that are lent instead of copied; null if none may be
     * @param mayWait if not, reads only what is in memory
     * @return bytes read; or {@link NoWait#WOULD_WAIT}
     * @throws ObjectStoreException.NotFound if the version is gone for another reason
     * @throws ObjectStoreException.PreconditionFailed the same
     */
    @SuppressWarnings("ReferenceEquality") // each move of the bytes makes another instance
    public int read(long position, ByteBuffer to, @Nullable LentBytes loans, boolean mayWait)
            throws ObjectStoreException, IOException, InterruptedException {
        if (!mayWait) {
            return content instanceof Clean clean ? clean.reader.read(position, to, loans, false) : NoWait.WOULD_WAIT;
        }
        int start = to.position();
        while (true) {
            Content now = contentAfterCuts();
            try {
                int read = switch (now) {
                    case Clean clean -> clean.reader.read(position, to, loans, true);
                    case Dirty dirty -> dirty.file.read(position, to);
                };
                if (now == content) {
                    return read;
                }
            } catch (ObjectStoreException.NotFound | ObjectStoreException.PreconditionFailed e) {
                if (now == content) {
                    throw e;
                }
            }
            to.position(start);
            if (loans != null) {
                loans.giveBack();
            }
        }
    }

    /**
     * The file is about to be truncated. Reads wait until {@link #cutEnds}, which must be called once the kernel knows
     * the new size: if a read returns less than the kernel's size promises, the kernel fills up with zeros
     * (fuse_short_read in fs/fuse/file.c).
     */
    public synchronized void cutBegins() {
        cuts++;
        content = switch (content) {
            case Clean(ObjectVersion version, ObjectReader reader) -> new Clean(version, reader);
            case Dirty dirty -> new Dirty(dirty.file, dirty.stored);
        };
    }

    public synchronized void cutEnds() {
        cuts--;
        notifyAll();
    }

    private Content contentAfterCuts() throws InterruptedException {
        Content now = content; // before the look at cuts: a cut that begins after it replaces the content
        if (cuts > 0) {
            synchronized (this) {
                while (cuts > 0) {
                    wait();
                }
                return content;
            }
        }
        return now;
    }

    /** As defined by {@code FileSystem.lseek}; -1 if there is none. */
    public long seek(long offset, boolean hole) {
        return switch (content) {
            case Clean clean -> offset >= clean.version.size() ? -1 : hole ? clean.version.size() : offset;
            case Dirty dirty -> dirty.file.seek(offset, hole);
        };
    }

    // ---- from one version to the next; under the file's monitor

    /** It is read from and written to this content from now on. */
    synchronized void becomeWritten(WrittenFile written) {
        content = new Dirty(written, stored());
    }

    /**
     * The store has this version of its dirty content now; or it takes the name of this object, and shares no content
     * with it. Null if there is none.
     */
    synchronized void setStored(@Nullable ObjectVersion version) {
        if (content instanceof Dirty dirty) {
            dirty.stored = version;
        }
    }

    /**
     * Whether the store has all of it, and {@link #setStored} was called. This includes the time while the name is
     * being removed: an object committed then must be known, so that it is deleted.
     */
    boolean isCommitted() {
        if (content instanceof Dirty dirty) {
            ObjectVersion version = dirty.stored;
            return version != null && version.equals(dirty.file.version());
        }
        return true;
    }

    /** The store has its committed content under another name, as this version, and the old name is gone. */
    synchronized void moved(ObjectVersion version, Function<ObjectVersion, ObjectReader> opening) {
        switch (content) {
            case Clean _ -> {
                ObjectReader reader = opening.apply(version);
                readers.add(reader);
                content = new Clean(version, reader);
            }
            case Dirty dirty -> {
                dirty.file.moved(version);
                content = new Dirty(dirty.file, version);
            }
        }
    }

    /** Closes the readers through the cache, once no thread uses them. */
    void close() {
        readers.forEach(ObjectReader::close);
    }
}
