package io.penstock.filesystem;

import io.penstock.cache.WholeFile;
import io.penstock.core.LentBytes;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.OpenHandle.OpenObject;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.LiveFile;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.prefetch.ObjectReader;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WrittenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the handles of one file share that were opened on one version, or on what became of it by writing here: they all
 * see the same content. One that nobody writes is read through the cache; from the first open for writing on, all go
 * through the {@link WrittenFile}, until the last is closed.
 *
 * <pre>
 *   OPEN ──last handle closed, nothing to commit──▶ ENDED
 *    │ ▲                                              ▲
 *    │ └────────opened again───────┐                  │
 *    └──last handle closed──▶ BEHIND ──committed, or given up
 * </pre>
 *
 * <p>While somebody has it open for writing, or something of it is not committed, its name stands for it in the tree.
 *
 * <p>Safe for use by any number of threads. The monitor is never held while waiting for the store.
 */
final class SharedFile implements LiveFile {
    private final SharedFiles files;
    private final Inode inode;

    // Changed under the monitor, as all that follows; volatile, because reads take no lock.
    private volatile @Nullable WrittenFile written;
    private volatile @Nullable ObjectReader reader;

    /** What the store has of it, as far as it is known here; null if nothing yet. */
    private volatile @Nullable ObjectVersion stored;

    private volatile Instant modified;

    /** Its name is gone. */
    private volatile boolean removed;

    /** Readers that may be in use by somebody still, after a rename. */
    private final List<ObjectReader> former = new ArrayList<>();

    private int handles;
    private int writers;

    /** Writers that have not been flushed since they wrote last: the last of these commits. */
    private int unflushed;

    /** Whether the handles are counted as one by {@link #written}. */
    private boolean retained;

    /** Where its name stands for it in the tree. */
    private @Nullable Place shownAt;

    /** What {@link KernelPages} calls the content. */
    private String tag;

    private boolean ended;

    /** What is to be done when it has ended: null if nothing is. */
    private @Nullable Runnable atEnd;

    /** What is there already. */
    SharedFile(SharedFiles files, Inode inode, ObjectVersion version, ObjectReader reader) {
        this.files = files;
        this.inode = inode;
        this.stored = version;
        this.reader = reader;
        this.tag = version.etag();
        this.modified = files.times().of(version);
    }

    /**
     * What is new, or was left by an earlier run.
     *
     * @param isOpen whether the file counts a handle already
     */
    SharedFile(SharedFiles files, Inode inode, WrittenFile written, boolean isOpen) {
        this.files = files;
        this.inode = inode;
        this.written = written;
        this.stored = written.committed();
        this.retained = isOpen;
        this.tag = files.newTag();
        this.modified = written.modified();
    }

    Inode inode() {
        return inode;
    }

    @Override
    public long size() {
        WrittenFile content = written;
        if (content != null) {
            return content.size();
        }
        ObjectVersion version = stored;
        return version == null ? 0 : version.size();
    }

    @Override
    public Instant modified() {
        return modified;
    }

    @Override
    public int links() {
        return removed ? 0 : 1;
    }

    void touch(Instant time) {
        modified = time;
        ObjectVersion version = stored;
        if (version != null) {
            files.times().set(version, time);
        }
    }

    @Nullable
    WrittenFile written() {
        return written;
    }

    @Nullable
    ObjectVersion stored() {
        return stored;
    }

    /** The version that has this very content: null if none has. */
    @Nullable
    ObjectVersion version() {
        WrittenFile content = written;
        return content == null ? stored : content.isDirty() ? null : content.committed();
    }

    /** It was never shared. */
    void discard() {
        ObjectReader open = reader;
        if (open != null) {
            open.close();
        }
    }

    /** Has this done when it has ended. False if that is over. */
    synchronized boolean atEnd(Runnable action) {
        if (!ended) {
            atEnd = action;
        }
        return !ended;
    }

    synchronized @Nullable Runnable atEnd() {
        return atEnd;
    }

    synchronized String tag() {
        return tag;
    }

    /** Whether who opens this version now is to share it. */
    synchronized boolean isOf(ObjectVersion version) {
        ObjectVersion mine = stored;
        return !ended && mine != null && mine.etag().equals(version.etag());
    }

    /** Whether it can only be read while the store has this version. */
    boolean needs(ObjectVersion version) {
        WrittenFile content = written;
        ObjectVersion below = content == null ? stored : content.committed();
        return below != null && below.etag().equals(version.etag());
    }

    // ---- handles

    /** One more handle. False if the last was closed for good: look again what there is. */
    synchronized boolean join(boolean write) {
        WrittenFile content = written;
        if (ended || (content != null && !retained && !content.retain())) {
            return false;
        }
        retained = content != null;
        handles++;
        if (write) {
            writers++;
            unflushed++;
        }
        return true;
    }

    /**
     * Whoever has joined to write begins.
     *
     * @param truncate whether the content is not needed
     */
    void beginWriting(Writeback writeback, boolean truncate, Instant now)
            throws ObjectStoreException, IOException, InterruptedException {
        WrittenFile content;
        boolean isNew;
        synchronized (this) {
            ObjectVersion base = stored;
            content = written;
            isNew = content == null && base != null;
            if (content == null && base != null) {
                content = truncate ? writeback.create(base.key(), base) : writeback.open(base);
                retained = true;
                written = content;
                files.add(content, this);
            }
            if (!removed) {
                repage(files.newTag());
                show();
            }
        }
        if (content == null) {
            throw new IllegalStateException(inode + " has neither an object nor content");
        }
        if (isNew && removed) {
            content.unlink();
        }
        if (truncate) {
            content.truncate(0);
            changed(now);
        }
    }

    /** A handle is closed. */
    void leave(OpenObject handle) {
        leave(handle.isWritable(), handle.flushed);
    }

    /** Whoever has joined does not open it after all. */
    void leave(boolean wrote) {
        leave(wrote, false);
    }

    private void leave(boolean wrote, boolean flushed) {
        WrittenFile done = null;
        WrittenFile toCommit = null;
        synchronized (this) {
            handles--;
            if (wrote) {
                writers--;
                unflushed -= flushed ? 0 : 1;
            }
            WrittenFile content = written;
            if (handles == 0 && retained) {
                done = content;
                retained = false;
            } else if (wrote && writers == 0 && content != null && content.isDirty()) {
                toCommit = content;
            }
        }
        if (done != null) {
            done.release();
        }
        if (toCommit != null) {
            files.commitBehind(toCommit);
        }
        settle();
    }

    /** Whether somebody has it open. */
    synchronized boolean isOpen() {
        return handles > 0;
    }

    /**
     * A descriptor of the handle is closed. It may not be the only one: the handle may be written to again.
     *
     * @return what is to be committed, because nobody else is left who will do it; null if nothing is
     */
    synchronized @Nullable WrittenFile flush(OpenObject handle) {
        if (!handle.isWritable()) {
            return null;
        }
        if (!handle.flushed) {
            handle.flushed = true;
            unflushed--;
        }
        WrittenFile content = written;
        // An empty file is as good as unwritten: a shell closes a duplicate before the program has begun.
        boolean isFresh = content != null && content.committed() == null && content.size() == 0;
        return unflushed > 0 || removed || isFresh ? null : content;
    }

    // ---- content

    /** @param loans what may be lent instead of copied goes there; null if nothing may */
    int read(long position, ByteBuffer to, @Nullable LentBytes loans)
            throws ObjectStoreException, IOException, InterruptedException {
        WrittenFile content = written;
        if (content != null) {
            return content.read(position, to);
        }
        ObjectReader open = reader;
        return open == null ? 0 : open.read(position, to, loans);
    }

    /** {@link #read} if all of it is in memory: {@link FileSystem#WOULD_WAIT} if not. */
    int readNow(long position, ByteBuffer to, @Nullable LentBytes loans) {
        ObjectReader open = reader;
        return written == null && open != null ? open.readNow(position, to, loans) : FileSystem.WOULD_WAIT;
    }

    /** Whether the cache has all of what nobody writes. */
    boolean isWhole() {
        ObjectReader open = reader;
        return written == null && open != null && open.isWhole();
    }

    /** The cache's file of it, if it {@linkplain #isWhole is whole}: null if it is not, or not to be handed out yet. */
    @Nullable
    WholeFile wholeFile(boolean verified) {
        ObjectReader open = reader;
        return written == null && open != null ? open.wholeFile(verified) : null;
    }

    /** What a handle that is open for writing writes to; it is not flushed any more. */
    WrittenFile content(OpenObject handle) {
        if (handle.flushed) { // racy on purpose: who writes while another thread closes may be committed without it
            synchronized (this) {
                if (handle.flushed) {
                    handle.flushed = false;
                    unflushed++;
                }
            }
        }
        WrittenFile content = written;
        if (content == null) {
            throw new IllegalStateException(inode + " is not being written");
        }
        return content;
    }

    /** Its content was changed. */
    void changed(Instant now) {
        modified = now;
    }

    /** As {@link FileSystem#lseek} has it; -1 if there is none. */
    long seek(long offset, boolean hole) {
        WrittenFile content = written;
        if (content != null) {
            return content.seek(offset, hole);
        }
        long size = size();
        return offset >= size ? -1 : hole ? size : offset;
    }

    // ---- its name, and what becomes of it

    /** The store has this version of it now. */
    void committed(ObjectVersion version) {
        synchronized (this) {
            stored = version;
            Place place = inode.place();
            if (!removed && place != null && place.key().equals(version.key())) {
                files.stored(place, version, modified);
            }
        }
        settle();
    }

    /** It cannot be committed, and nobody has it open: the name stands for what the store has. */
    void givenUp() {
        synchronized (this) {
            if (handles > 0) {
                return;
            }
            removed = true;
        }
        settle();
    }

    /** Its name is gone. What is being committed ends first. */
    void remove() {
        synchronized (this) {
            removed = true;
            unshow();
        }
        WrittenFile content = written;
        if (content != null) {
            content.unlink();
        }
    }

    /** Its inode has another name, under which the store has this version of what was committed. */
    synchronized void moved(ObjectVersion version) {
        boolean shown = shownAt != null;
        unshow();
        stored = version;
        WrittenFile content = written;
        ObjectReader open = reader;
        if (content != null) {
            content.moved(version);
        } else if (open != null) {
            reader = files.open(version);
            former.add(open);
            repage(version.etag());
        }
        if (shown) {
            show();
        }
    }

    /** Its name stands for it, whatever the store has. */
    synchronized void show() {
        Place place = inode.place();
        if (place != null && !removed) {
            files.tree().show(place.parent(), place.name(), this);
            shownAt = place;
        }
    }

    private void unshow() {
        Place place = shownAt;
        if (place != null) {
            files.tree().unshow(place.parent(), place.name(), this);
            shownAt = null;
        }
    }

    private void repage(String next) {
        files.kernelPages().becomes(inode.number(), tag, next);
        tag = next;
    }

    /** Whether nothing of it is to be committed, and {@link #committed} was told of what has been. */
    private boolean isCommitted(WrittenFile content) {
        return !content.isDirty() && Objects.equals(content.committed(), stored);
    }

    /** Ends what is over: the name's standing for it with the last writer, all of it with the last handle. */
    void settle() {
        synchronized (this) {
            WrittenFile content = written;
            if (content != null && !removed && !isCommitted(content)) {
                return;
            }
            if (writers == 0) {
                ObjectVersion version = stored;
                if (content != null && version != null && !removed) {
                    repage(version.etag());
                }
                unshow();
            }
            if (handles > 0 || ended) {
                return;
            }
            ended = true;
        }
        ObjectReader open = reader;
        if (open != null) {
            open.close();
        }
        former.forEach(ObjectReader::close);
        files.ended(this);
    }
}
