package io.penstock.writeback;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.WriteCondition;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The current content of one file that is written: what was written over what the committed version has. Shared by all
 * handles of its inode, readers too; after a commit it goes on with the new version beneath. Positional; safe for use by
 * any number of threads. There is at most one of a key at a time.
 *
 * <p>A commit takes the content as it is when it begins. Writers go on meanwhile: what they change is copied first, and
 * belongs to the next commit; an {@link #fsync} of it waits until the commit has ended.
 *
 * <p>An {@link ObjectStoreException} or {@link IOException} of an upload or of staging sticks to the file until
 * {@link #fsync}, {@link #commit} or {@link #closeStaged} has thrown it once; nothing is dropped because of it.
 */
public final class WrittenFile {
    private final Shared shared;
    private final LiveContent bytes;

    /** Makes appends follow each other; held while they wait for memory. Taken before {@link #lock}. */
    private final ReentrantLock appends = new ReentrantLock(true);

    /** The content's, which guards all that follows too. */
    private final ReentrantLock lock;

    private final Condition progress;
    private final StickyError error = new StickyError();
    private final FileSync sync;
    private String key;

    /** The object that an empty file was made to replace; null once something of the file is committed. */
    private @Nullable ObjectVersion replaced;

    private @Nullable Upload upload;
    private @Nullable Commit committing;

    /** Counts changes; the file is dirty while the committed ones are fewer. */
    private long changes;

    private long committedChanges;

    /** The same, but only once the listener has been told. */
    private long announcedChanges;

    private Instant modified;
    private int handles = 1;
    private boolean unlinked;
    private boolean disposed;
    private boolean closed;

    /** It is of an earlier run, whose commit may have succeeded unnoticed. */
    private boolean recovered;

    /** It is to be committed whatever the object is now. */
    private boolean overwrite;

    private WrittenFile(Shared shared, String key, Content content, Ground ground, Instant modified) {
        this.shared = shared;
        this.bytes = new LiveContent(shared, new Owner(), content, ground);
        this.lock = bytes.lock();
        this.progress = bytes.progress();
        this.sync = new FileSync(this);
        this.key = key;
        this.modified = modified;
    }

    static WrittenFile create(Shared shared, String key, @Nullable ObjectVersion replaced) {
        WrittenFile file = new WrittenFile(shared, key, new Content(0), shared.ground(null), shared.now());
        file.replaced = replaced;
        file.changes = 1; // that there is such a file
        return file;
    }

    static WrittenFile open(Shared shared, ObjectVersion base) {
        return new WrittenFile(shared, base.key(), new Content(base.size()), shared.ground(base), base.lastModified());
    }

    /** What an earlier run left, without a handle. */
    static WrittenFile recovered(Shared shared, Recovery.Found found) {
        WrittenFile file = new WrittenFile(
                shared,
                found.opened().key(),
                found.content(),
                new Ground(found.opened().base(), shared.base(), found.staged()),
                found.written().modified());
        file.replaced = found.opened().replaced();
        file.changes = 1;
        file.handles = 0;
        file.recovered = true;
        JournalledUpload earlier = found.upload();
        if (earlier != null) {
            file.upload = shared.uploads().resume(earlier, file.new Uploaded(), file.sync.journal());
        }
        return file;
    }

    Shared shared() {
        return shared;
    }

    LiveContent bytes() {
        return bytes;
    }

    public String key() {
        return locked(() -> key);
    }

    /** Bytes, with what is written and not yet committed. */
    public long size() {
        return locked(() -> bytes.content().size());
    }

    /** Of the last change; of the committed version if there was none since. */
    public Instant modified() {
        return locked(() -> modified);
    }

    /** What is committed of it: null if nothing is yet. */
    public @Nullable ObjectVersion committed() {
        lock.lock();
        try {
            return bytes.ground().version();
        } finally {
            lock.unlock();
        }
    }

    /** Whether a commit would change the object. */
    public boolean isDirty() {
        return locked(this::hasChanges);
    }

    private boolean hasChanges() {
        return changes > committedChanges && !unlinked;
    }

    private <T> T locked(Supplier<T> read) {
        lock.lock();
        try {
            return read.get();
        } finally {
            lock.unlock();
        }
    }

    // ---- reading and writing

    /** @return bytes read until the buffer is full or the file ends */
    public int read(long position, ByteBuffer to) throws ObjectStoreException, IOException, InterruptedException {
        return bytes.read(position, to);
    }

    /**
     * @return the first byte at or behind {@code offset} that is data, or, for {@code hole}, that lies in a hole (the
     *     file's end is one); -1 if there is none. What is committed counts as data
     */
    public long seek(long offset, boolean hole) {
        return locked(() -> bytes.content().seek(offset, hole));
    }

    /** Writes all that the buffer holds. Waits at the limits, in turn. */
    public void write(long position, ByteBuffer from) throws ObjectStoreException, IOException, InterruptedException {
        bytes.write(position, from);
    }

    /** Writes at the end, whoever else appends. @return where it was written */
    public long append(ByteBuffer from) throws ObjectStoreException, IOException, InterruptedException {
        appends.lockInterruptibly();
        try {
            long end = size();
            bytes.write(end, from);
            return end;
        } finally {
            appends.unlock();
        }
    }

    /** Cuts the file, or lets it grow by zeros that take no room. */
    public void truncate(long size) throws ObjectStoreException, IOException, InterruptedException {
        lock.lock();
        try {
            long before = bytes.content().size();
            if (size != before) {
                long from = Math.min(size, before);
                changes(new ByteRange(from, Math.max(size, before) - from));
                bytes.content().resize(size);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Makes the range zeros, within the size: nothing behind the end is changed. */
    public void zero(long offset, long length) throws ObjectStoreException, IOException, InterruptedException {
        lock.lock();
        try {
            long end = Math.min(bytes.content().size(), offset + length);
            if (offset < end) {
                changes(new ByteRange(offset, end - offset));
                bytes.content().zero(offset, end);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes over a range of another object's version without its bytes passing through, as far as whole parts allow;
     * the rest is read and written.
     */
    public void copyFrom(ObjectVersion source, long sourceOffset, long offset, long length)
            throws ObjectStoreException, IOException, InterruptedException {
        ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(length, 1 << 20));
        try (BaseContent.Reader reader = shared.base().open(source)) {
            for (long done = 0; done < length; done += buffer.limit()) {
                buffer.clear().limit((int) Math.min(buffer.capacity(), length - done));
                int read = reader.read(sourceOffset + done, buffer);
                if (read == 0) {
                    return;
                }
                write(offset + done, buffer.flip());
            }
        }
    }

    private void changes(ByteRange range) {
        changes++;
        modified = shared.now();
        Upload current = upload;
        if (current != null && committing == null) {
            current.changed(range);
        }
    }

    private Upload upload() {
        Upload current = upload;
        if (current == null) {
            current = shared.uploads().begin(key, bytes.ground().version(), new Uploaded(), sync.journal());
            upload = current;
        }
        return current;
    }

    /** What the content tells of its changes. */
    private final class Owner implements LiveContent.Owner {
        @Override
        public void changes(ByteRange range) {
            WrittenFile.this.changes(range);
        }

        @Override
        public void whole(Block block) {
            if (committing == null) {
                shared.reclaim().stage(bytes, block);
                if (!unlinked) {
                    upload().ready(new ByteRange(block.start(), Writeback.BLOCK_SIZE));
                }
            }
        }

        @Override
        public boolean relieve() {
            if (committing == null && hasChanges() && !shared.isClosed()) {
                beginCommit(true);
            }
            return committing != null;
        }
    }

    /** What an upload reads of this file. */
    private final class Uploaded implements FileContent {
        @Override
        public List<Run> runs(ByteRange within) {
            return bytes.runs(within);
        }

        @Override
        public StillBody body(ByteRange range) throws ObjectStoreException, IOException, InterruptedException {
            StillContent body = bytes.hold(range);
            try {
                return body.summed();
            } catch (ObjectStoreException | IOException | InterruptedException | RuntimeException e) {
                body.close();
                throw e;
            }
        }
    }

    // ---- making it durable and visible

    /** Returns once the content would survive a crash of the node, or is visible, as {@link WritebackConfig#fsync} has it. */
    public void fsync() throws ObjectStoreException, IOException, InterruptedException {
        if (shared.config().fsync() == WritebackConfig.Fsync.VISIBLE || !sync.staged(false)) {
            commit();
        }
    }

    /** Returns once the content would survive a crash of the node, and commits it behind. */
    public void closeStaged() throws ObjectStoreException, IOException, InterruptedException {
        if (!sync.staged(true)) {
            commit();
            return;
        }
        lock.lock();
        try {
            if (hasChanges()) {
                beginCommit(true);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Makes the content visible, if it is not, and waits for it. An interrupt ends the waiting, not the commit.
     *
     * @throws ObjectStoreException.PreconditionFailed if somebody else has changed the object since it was opened; the
     *     content is kept for recovery and named in the message
     */
    public void commit() throws ObjectStoreException, IOException, InterruptedException {
        lock.lockInterruptibly();
        try {
            long wanted = changes;
            while (true) {
                error.report();
                if (unlinked || announcedChanges >= wanted) {
                    return;
                }
                beginCommit(false);
                progress.await();
            }
        } finally {
            lock.unlock();
        }
    }

    private void beginCommit(boolean behind) {
        if (committing != null) {
            if (!behind) {
                committing.awaited();
            }
            return;
        }
        Upload to = upload();
        Commit commit = new Commit(this, to, bytes.freeze(), changes, condition(), behind);
        committing = commit;
        try {
            shared.commits().execute(commit);
        } catch (RejectedExecutionException e) {
            ended(commit, new IOException("'" + key + "' cannot be committed: the mount is being ended", e));
        }
    }

    private WriteCondition condition() {
        ObjectVersion below = bytes.ground().version();
        ObjectVersion expected = below != null ? below : replaced;
        if (overwrite || shared.config().conflict() == WritebackConfig.Conflict.OVERWRITE) {
            return WriteCondition.ALWAYS;
        }
        return expected == null ? WriteCondition.ABSENT : new WriteCondition.Unchanged(expected.etag());
    }

    /** The next commit is made whatever the object is by then. */
    void overwrite() {
        lock.lock();
        try {
            overwrite = true;
        } finally {
            lock.unlock();
        }
    }

    boolean isRecovered() {
        return locked(() -> recovered);
    }

    /** The commit succeeded: the new version lies beneath, and above it what was changed meanwhile. */
    void committed(Commit commit, ObjectVersion version) {
        lock.lock();
        try {
            Ground old = bytes.rebase(version);
            upload = null;
            replaced = null;
            recovered = false;
            committedChanges = commit.changes();
            sync.committed(committedChanges);
            if (changes == committedChanges) {
                modified = version.lastModified();
            }
            old.staged().remove();
            old.release();
        } finally {
            lock.unlock();
        }
    }

    /** Nothing of the commit is done any more; the failure is null if it succeeded. */
    void ended(Commit commit, @Nullable Exception failure) {
        bytes.thaw();
        boolean last;
        lock.lock();
        try {
            committing = null;
            announcedChanges = committedChanges;
            if (failure != null && !unlinked) {
                if (!shared.isClosed()) {
                    error.set(failure);
                }
                commit.upload().changed(new ByteRange(0, Long.MAX_VALUE));
            }
            last = handles == 0;
            progress.signalAll();
        } finally {
            lock.unlock();
        }
        if (last) {
            end(failure);
        }
    }

    // ---- its name and its handles

    /**
     * What is committed of it was copied to another key, whose version this is: it is the version beneath from now on.
     * What was written meanwhile stays above it, and is committed there.
     */
    public void moved(ObjectVersion to) {
        Upload old;
        lock.lock();
        try {
            key = to.key();
            bytes.ground().moved(to);
            old = upload;
            upload = null;
            sync.moved();
        } finally {
            lock.unlock();
        }
        if (old != null) {
            old.abandon();
        }
    }

    /**
     * Its name is gone: nothing of it becomes visible any more once this has returned. It can be read and written until it
     * is released.
     */
    public void unlink() {
        StagedFile staged;
        lock.lock();
        try {
            unlinked = true;
            error.clear();
            if (committing != null) {
                committing.cancel();
            }
            while (committing != null) {
                progress.awaitUninterruptibly();
            }
            staged = bytes.ground().staged();
        } finally {
            lock.unlock();
        }
        staged.forgetJournal();
    }

    /** Whether nobody has it open, and it is only there to be committed. */
    boolean isBehind() {
        return locked(() -> handles == 0);
    }

    /** Bytes that are not uploaded of a file that is committed behind; -1 if it is not. */
    long backlogBytes() {
        lock.lock();
        try {
            if (disposed || !hasChanges() || (handles > 0 && (committing == null || !committing.isBehind()))) {
                return -1;
            }
            long uploaded = upload == null ? 0 : upload.uploadedBytes();
            return Math.max(0, bytes.content().size() - uploaded);
        } finally {
            lock.unlock();
        }
    }

    /** One more handle. False if it has been released for the last time: open it anew then. */
    public boolean retain() {
        lock.lock();
        try {
            if (!disposed) {
                handles++;
            }
            return !disposed;
        } finally {
            lock.unlock();
        }
    }

    /** Commits what an earlier run left, unless somebody has it open by now: then that does. */
    void resume() {
        end(null);
    }

    /** One handle less. After the last, what is uncommitted is committed behind, and the rest is freed. */
    public void release() {
        lock.lock();
        try {
            handles--;
            if (handles > 0 || committing != null) {
                return;
            }
        } finally {
            lock.unlock();
        }
        end(null);
    }

    /** Without handles and without a commit that runs: commits what is left, or frees all. */
    private void end(@Nullable Exception failure) {
        boolean kept;
        lock.lock();
        try {
            if (handles > 0 || committing != null || disposed || shared.isClosed()) {
                return; // what is left when the mount ends is stopped by that
            }
            if (hasChanges() && failure == null) {
                beginCommit(true);
                return;
            }
            disposed = true;
            kept = failure != null && hasChanges();
        } finally {
            lock.unlock();
        }
        if (kept && failure != null) {
            sync.keep(failure);
        }
        dispose(kept);
        shared.ended(this, kept);
    }

    /** The mount ends: closes everything, and leaves what another run will find. */
    void stop() {
        dispose(locked(this::hasChanges));
    }

    private void dispose(boolean keep) {
        Upload left;
        StagedFile staged;
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            disposed = true;
            left = upload;
            upload = null;
            staged = bytes.ground().staged();
            bytes.content().drop();
            bytes.ground().release();
        } finally {
            lock.unlock();
        }
        if (!keep) {
            staged.remove();
        }
        if (left != null) {
            if (keep) {
                left.stop();
            } else {
                left.abandon();
            }
        }
    }

    // ---- what its journal has to say; with the lock held

    JournalRecord.Opened identity() {
        return new JournalRecord.Opened(
                shared.staging().namespace(), key, bytes.ground().version(), replaced);
    }

    StickyError error() {
        return error;
    }

    boolean isUnlinked() {
        return unlinked;
    }

    boolean isCommitting() {
        return committing != null;
    }

    boolean isDirtyLocked() {
        return hasChanges();
    }

    long changes() {
        return changes;
    }

    Instant modifiedLocked() {
        return modified;
    }
}
