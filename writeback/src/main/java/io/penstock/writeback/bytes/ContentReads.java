package io.penstock.writeback.bytes;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockMap;
import io.penstock.writeback.content.Segment;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads the bytes of one written file. Safe for use by any number of threads.
 *
 * <p>A read finds each run of bytes under the file's lock, and fetches bytes that are not in memory without it. If a
 * commit replaces the base version meanwhile, the run is read again: the data file may already belong to the cache,
 * which may free any part of it.
 */
public final class ContentReads {
    private static final byte[] ZEROS = new byte[64 << 10];

    private final FileBytes live;

    ContentReads(FileBytes live) {
        this.live = live;
    }

    /** @return bytes read, until the buffer is full or the file ends */
    public int read(long position, ByteBuffer to) throws ObjectStoreException, IOException, InterruptedException {
        int limit = to.limit();
        int start = to.position();
        to.limit(start + Math.clamp(size() - position, 0, to.remaining()));
        try {
            read(null, position, to);
            return to.position() - start;
        } finally {
            to.limit(limit);
        }
    }

    private long size() {
        live.lock().lock();
        try {
            return live.content().size();
        } finally {
            live.lock().unlock();
        }
    }

    /**
     * Fills the buffer.
     *
     * @param snapshot to read; null for the current file
     */
    public void read(@Nullable Snapshot snapshot, long position, ByteBuffer to)
            throws ObjectStoreException, IOException, InterruptedException {
        long at = position;
        while (to.hasRemaining()) {
            at += readRun(snapshot, at, to);
        }
    }

    /** Reads a run of bytes that are in one place. Returns 0 if that place was replaced meanwhile: then try again. */
    private int readRun(@Nullable Snapshot snapshot, long position, ByteBuffer to)
            throws ObjectStoreException, IOException, InterruptedException {
        Segment segment;
        int length;
        BaseLayer under;
        ObjectVersion below;
        live.lock().lock();
        try {
            while (snapshot == null && live.layer().isRetired()) {
                live.progress().await(); // for the version that gives its data file to the cache
            }
            BlockMap view = snapshot == null ? live.content() : snapshot.content();
            segment = view.at(position, position + to.remaining());
            length = Math.toIntExact(segment.end() - position);
            Block block = segment.block();
            if (segment.source() == Segment.Source.MEMORY && block != null) {
                block.read(position, to, length);
                return length;
            }
            under = (snapshot == null ? live.layer() : snapshot.layer()).use();
            below = under.version();
        } finally {
            live.lock().unlock();
        }
        boolean fetched = false;
        boolean valid = false;
        try {
            if (snapshot != null
                    && segment.source() == Segment.Source.STAGED
                    && under.data().isSuspect()) {
                throw new IOException("the staging disk may have lost bytes that were written");
            }
            fetch(segment, under, position, to.slice(to.position(), length));
            fetched = true;
        } catch (ObjectStoreException.PreconditionFailed e) {
            if (snapshot != null || !isReplacedHere(under, below)) {
                throw e;
            }
        } finally {
            live.lock().lock();
            try {
                valid = snapshot != null || (under == live.layer() && !under.isRetired());
            } finally {
                live.lock().unlock();
            }
            under.release();
        }
        if (!fetched || !valid) {
            return 0;
        }
        to.position(to.position() + length);
        return length;
    }

    /** Whether the version below is no longer the object because a commit of this file replaced it. */
    private boolean isReplacedHere(BaseLayer under, @Nullable ObjectVersion below) throws InterruptedException {
        live.lock().lock();
        try {
            while (live.isBeingReplaced() && isAsItWas(under, below)) {
                live.progress().await();
            }
            return !isAsItWas(under, below);
        } finally {
            live.lock().unlock();
        }
    }

    private boolean isAsItWas(BaseLayer under, @Nullable ObjectVersion below) {
        return under == live.layer() && Objects.equals(below, under.version());
    }

    private static void fetch(Segment segment, BaseLayer under, long position, ByteBuffer to)
            throws ObjectStoreException, IOException, InterruptedException {
        int wanted = to.remaining();
        int read = switch (segment.source()) {
            case STAGED -> under.data().read(position, to);
            case BASE -> under.reader().read(position, to);
            case HOLE, MEMORY -> putZeros(to);
        };
        if (read < wanted) {
            throw new IOException("the file's bytes end at " + (position + read) + ", which is too early");
        }
    }

    private static int putZeros(ByteBuffer to) {
        int length = to.remaining();
        while (to.hasRemaining()) {
            to.put(ZEROS, 0, Math.min(ZEROS.length, to.remaining()));
        }
        return length;
    }
}
