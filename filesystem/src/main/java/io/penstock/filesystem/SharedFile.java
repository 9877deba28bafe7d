package io.penstock.filesystem;

import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.OpenFile.PageCachePolicy;
import io.penstock.filesystem.OpenHandle.OpenObject;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.LiveFile;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.prefetch.ObjectReader;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WrittenFile;
import java.io.IOException;
import java.time.Instant;
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

    private final SharedContent content;

    // Guarded by the monitor, as all that follows; volatile what is read without it.

    private final Openers openers = new Openers();
    private final ShownName name;

    private volatile Instant modified;

    /** Its name is gone. */
    private volatile boolean removed;

    /** Whether the handles are counted as one by what is written. */
    private boolean retained;

    /** What {@link KernelPages} calls the content. */
    private String tag;

    private boolean ended;

    /** Somebody could not join it: it ends as soon as it is known what has become of what was written. */
    private boolean refused;

    /** It has ended, and no table has it. */
    private boolean gone;

    /** What is there already. */
    SharedFile(SharedFiles files, Inode inode, ObjectVersion version, ObjectReader reader) {
        this.files = files;
        this.inode = inode;
        this.content = new SharedContent(version, reader);
        this.name = new ShownName(files.tree(), this);
        this.tag = version.identity();
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
        this.content = new SharedContent(written);
        this.name = new ShownName(files.tree(), this);
        this.retained = isOpen;
        this.tag = files.newTag();
        this.modified = written.modified();
    }

    Inode inode() {
        return inode;
    }

    SharedContent content() {
        return content;
    }

    @Override
    public long size() {
        return content.size();
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
        ObjectVersion version = content.stored();
        if (version != null) {
            files.times().set(version, time);
        }
    }

    /** What is written of it: null if it was only opened to be read. */
    @Nullable
    WrittenFile written() {
        return content.written();
    }

    /** What the store has of it, as far as it is known here; null if nothing yet. */
    @Nullable
    ObjectVersion stored() {
        return content.stored();
    }

    /** The version that has this very content: null if none has. */
    @Nullable
    ObjectVersion version() {
        return content.version();
    }

    /** It was never shared. */
    void discard() {
        content.close();
    }

    /** {@link KernelPages#open}, in one step with what the content is called at this moment. */
    synchronized @Nullable PageCachePolicy openPages(@Nullable BackingFile backing) {
        return files.kernelPages().open(inode.number(), tag, content.written() == null ? backing : null);
    }

    /** There is a handle for who has joined. */
    synchronized void opened(OpenObject handle) {
        openers.add(handle);
    }

    synchronized String tag() {
        return tag;
    }

    /** Whether who opens this version now is to share it. */
    synchronized boolean isOf(ObjectVersion version) {
        ObjectVersion mine = content.stored();
        return !ended && mine != null && mine.identity().equals(version.identity());
    }

    // ---- handles

    /** One more handle. False if the last was closed for good: look again what there is. */
    synchronized boolean join(boolean write) {
        WrittenFile written = content.written();
        if (ended || (written != null && !retained && !written.retain())) {
            refused = true;
            return false;
        }
        retained = written != null;
        openers.join(write);
        return true;
    }

    /** Waits until it is gone, if it could not be {@linkplain #join joined}. */
    synchronized void awaitEnd() throws InterruptedException {
        while (refused && !gone) {
            wait();
        }
    }

    /**
     * Whoever has joined to write begins.
     *
     * @param truncate whether the content is not needed
     * @return false if the kernel reads it by itself under this inode, so that it cannot be written under it
     */
    boolean beginWriting(Writeback writeback, boolean truncate, Instant now)
            throws ObjectStoreException, IOException, InterruptedException {
        WrittenFile written;
        boolean isNew;
        synchronized (this) {
            ObjectVersion base = content.stored();
            written = content.written();
            isNew = written == null && base != null;
            if (isNew && files.kernelPages().backingFile(inode.number()) != null) {
                return false;
            }
            if (written == null && base != null) {
                written = truncate ? writeback.create(base.key(), base) : writeback.open(base);
                retained = true;
                content.becomeWritten(written);
                files.add(written, this);
            }
            if (!removed) {
                name.show(); // first: what stands at the name must not look older than the pages
                repage(files.newTag());
            }
        }
        if (written == null) {
            throw new IllegalStateException(inode + " has neither an object nor content");
        }
        if (isNew && removed) {
            written.unlink();
        }
        if (truncate) {
            written.truncate(0);
            changed(now);
        }
        return true;
    }

    /** A handle is closed. */
    void leave(OpenObject handle) {
        leave(handle.isWriter(), handle.flushed);
    }

    /** Whoever has joined does not open it after all. */
    void leave(boolean wrote) {
        leave(wrote, false);
    }

    private void leave(boolean wrote, boolean flushed) {
        WrittenFile done = null;
        WrittenFile toCommit = null;
        synchronized (this) {
            openers.leave(wrote, flushed);
            WrittenFile written = content.written();
            if (!openers.isAny() && retained) {
                done = written;
                retained = false;
            } else if (wrote && !openers.isAnyToWrite() && written != null && written.isDirty()) {
                toCommit = written;
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

    /** Whether somebody has it open for writing. close(2) ends that: the kernel releases the handle some time later. */
    synchronized boolean isOpenToWrite() {
        return openers.isAnyUnflushed();
    }

    /** Whether somebody has it open. */
    synchronized boolean isOpen() {
        return openers.isAny();
    }

    /**
     * A descriptor of the handle is closed. It may not be the only one: the handle may be written to again.
     *
     * @return what is to be committed, because nobody else is left who will do it; null if nothing is
     */
    synchronized @Nullable WrittenFile flush(OpenObject handle) {
        if (!handle.isWriter()) {
            return null;
        }
        openers.flush(handle);
        return openers.isAnyUnflushed() || removed ? null : content.written();
    }

    /** What a handle that is open for writing writes to; it is not flushed any more. */
    WrittenFile written(OpenObject handle) {
        if (handle.flushed) { // racy on purpose: who writes while another thread closes may be committed without it
            synchronized (this) {
                openers.write(handle);
            }
        }
        WrittenFile written = content.written();
        if (written == null) {
            throw new IllegalStateException(inode + " is not being written");
        }
        return written;
    }

    /** Its content was changed. */
    void changed(Instant now) {
        modified = now;
    }

    // ---- its name, and what becomes of it

    /** The store has this of it now. */
    void committed(StoredObject object) {
        ObjectVersion version = object.version();
        synchronized (this) {
            content.committed(version);
            Place place = inode.place();
            if (!removed && place != null && place.key().equals(version.key())) {
                files.stored(place, object, modified);
            }
        }
        settle();
    }

    /** It cannot be committed, and nobody has it open: the name stands for what the store has. */
    void givenUp() {
        synchronized (this) {
            if (openers.isAny()) {
                return;
            }
            removed = true;
        }
        settle();
    }

    /** Its name is about to be removed: what is being committed ends first. If this is interrupted, it is to be reinstated. */
    void withdraw() throws InterruptedException {
        WrittenFile written = content.written();
        if (written != null) {
            written.withdraw();
        }
    }

    /** Whether the store may have of it what nobody here has heard of. Once it is withdrawn, that stays so. */
    boolean isPerhapsVisible() {
        WrittenFile written = content.written();
        return written != null && written.isPerhapsVisible();
    }

    /** Its name was not removed after all, and stands for it again if it did. */
    void reinstate() {
        synchronized (this) {
            if (name.isShown() && !removed) {
                name.show();
            }
        }
        WrittenFile written = content.written();
        if (written != null) {
            written.reinstate();
        }
    }

    /** Its name is gone. What is being committed ends first. */
    void remove() {
        synchronized (this) {
            removed = true;
            name.hide();
        }
        WrittenFile written = content.written();
        if (written != null) {
            written.unlink();
        }
    }

    /** Its inode has another name, under which the store has what this version was: nothing if it is of another. */
    synchronized void moved(ObjectVersion before, ObjectVersion after) {
        if (!isOf(before)) {
            return;
        }
        boolean shown = name.isShown();
        name.hide();
        content.moved(after, files);
        if (tag.equals(before.identity())) {
            repage(after.identity());
        }
        if (shown && !removed) {
            name.show();
        }
    }

    /** Its name stands for it, whatever the store has. */
    synchronized void show() {
        if (!removed) {
            name.show();
        }
    }

    private void repage(String next) {
        files.kernelPages().becomes(inode.number(), tag, next);
        tag = next;
    }

    /** Ends what is over: the name's standing for it with the last writer, all of it with the last handle. */
    void settle() {
        synchronized (this) {
            if (!removed && !content.isCommitted()) {
                return;
            }
            if (!openers.isAnyToWrite()) {
                ObjectVersion version = content.stored();
                if (content.written() != null && version != null && !removed) {
                    repage(version.identity());
                }
                name.hide();
            }
            if (openers.isAny() || ended) {
                return;
            }
            ended = true;
        }
        try {
            content.close();
            files.ended(this);
        } finally {
            synchronized (this) {
                gone = true;
                notifyAll();
            }
        }
    }
}
