package io.penstock.writeback;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.writeback.bytes.BaseLayer;
import io.penstock.writeback.bytes.FileBytes;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockMap;
import io.penstock.writeback.staging.JournalRecord;
import io.penstock.writeback.staging.Recovery;
import io.penstock.writeback.upload.FileUpload;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.SortedMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The current content of one file that is written: the written bytes over the committed version. Shared by all
 * handles of its inode, readers too; after a commit it goes on with the new base version. Positional; safe for use by
 * any number of threads. There is at most one of a key at a time. One method, and its contract, for each thing that is asked
 * of a file: hence its length.
 *
 * <p>A commit takes the content as it is when it begins. Writers go on during it: a block that they change is copied
 * first, and belongs to the next commit. An {@link #fsync} of it waits a moment for the commit, and has it make way
 * then: staging does not depend on the store.
 *
 * <p>An {@link ObjectStoreException} or {@link IOException} of an upload or of staging sticks to the file until
 * {@link #fsync}, {@link #commit} or {@link #closeStaged} has thrown it once; nothing is dropped because of it. A write
 * throws it too, if it would wait in vain for memory because of it.
 */
public final class WrittenFile {
    private final MountContext context;
    private final Listener listener;
    private final FileState state;
    private final FileCommits commits;
    private final FileBytes bytes;
    private final CommitWaits waits;
    private final FileSync sync;
    private final WholeCopy copies;
    private final FileHandles open;

    /** Makes appends follow each other; held while they wait for memory. Taken before the file's lock. */
    private final ReentrantLock appends = new ReentrantLock(true);

    /** How far the written content has come. */
    public enum Progress {
        /** It would not survive a crash of the machine. */
        DIRTY,
        /** It would, and is not being sent. */
        STAGED,
        /** A commit of it runs, or waits for its next attempt. */
        SENT,
        /** The object has it. */
        VISIBLE
    }

    /** Told of the file's commits and its end. */
    public interface Listener {
        /** The object is this now. */
        void committed(WrittenFile file, StoredObject object);

        void ended(WrittenFile file, FileHandles.Ending ending);
    }

    private WrittenFile(
            MountContext context,
            Listener listener,
            String key,
            BlockMap content,
            BaseLayer layer,
            Instant modified,
            int handles) {
        this.context = context;
        this.listener = listener;
        this.state = new FileState(key, modified);
        this.commits = new FileCommits(context, new CommitListener(), state, content, layer);
        this.bytes = commits.bytes();
        this.waits = new CommitWaits(commits);
        this.sync = new FileSync(commits);
        this.copies = new WholeCopy(commits);
        this.open = new FileHandles(commits, sync, handles, ending -> listener.ended(this, ending));
    }

    static WrittenFile create(MountContext context, Listener listener, String key, @Nullable ObjectVersion replaced) {
        BaseLayer layer = context.resources().layer(null);
        WrittenFile file = new WrittenFile(context, listener, key, new BlockMap(0), layer, context.now(), 1);
        file.state.created(replaced);
        return file;
    }

    static WrittenFile open(MountContext context, Listener listener, ObjectVersion base) {
        BlockMap content = new BlockMap(base.size());
        return new WrittenFile(
                context, listener, base.key(), content, context.resources().layer(base), base.lastModified(), 1);
    }

    /** A file of an earlier run, without a handle. */
    static WrittenFile recovered(MountContext context, Listener listener, Recovery.Found found) {
        JournalRecord.Opened opened = found.opened();
        BaseLayer layer = new BaseLayer(opened.base(), context.resources().base(), found.staged());
        Instant modified = found.written().modified();
        WrittenFile file = new WrittenFile(context, listener, opened.key(), found.content(), layer, modified, 0);
        file.commits.found(found);
        file.commits.object().keep(found.written().kept());
        file.sync.found();
        return file;
    }

    private final class CommitListener implements FileCommits.Listener {
        @Override
        public void committed(long changes) {
            sync.committed(changes);
        }

        @Override
        public void committed(StoredObject object) {
            listener.committed(WrittenFile.this, object);
        }

        @Override
        public void idle(@Nullable Exception failure) {
            open.endIfDone(failure);
        }

        @Override
        public boolean isInBackground() {
            return open.isNone();
        }
    }

    FileBytes bytes() {
        return bytes;
    }

    public String key() {
        return bytes.locked(state::key);
    }

    /** Bytes, those included that are not yet committed. */
    public long size() {
        return bytes.locked(() -> bytes.content().size());
    }

    /** Of the last change; of the committed version if there was none since. */
    public Instant modified() {
        return bytes.locked(state::modified);
    }

    /** The committed version; null if there is none yet. */
    public @Nullable ObjectVersion committed() {
        return bytes.<@Nullable ObjectVersion>locked(commits.object()::committed);
    }

    /** The version whose properties the next commit keeps: null if there is none. */
    public @Nullable ObjectVersion inherited() {
        return bytes.<@Nullable ObjectVersion>locked(commits.object()::inherited);
    }

    /** The version that has just this content: null if none has. */
    public @Nullable ObjectVersion version() {
        return bytes.<@Nullable ObjectVersion>locked(
                () -> state.isChanged() ? null : commits.object().committed());
    }

    /** Whether a commit would change the object. */
    public boolean isDirty() {
        return bytes.locked(state::isDirty);
    }

    public Progress progress() {
        return bytes.locked(() -> {
            if (!state.isChanged()) {
                return Progress.VISIBLE;
            } else if (state.running() != null) {
                return Progress.SENT;
            }
            return sync.isDurable() ? Progress.STAGED : Progress.DIRTY;
        });
    }

    // ---- reading and writing

    /** @return bytes read until the buffer is full or the file ends */
    public int read(long position, ByteBuffer to) throws ObjectStoreException, IOException, InterruptedException {
        return bytes.reads().read(position, to);
    }

    /**
     * @return the first byte at or after {@code offset} that is data, or, for {@code hole}, that lies in a hole (the
     *     file's end is one); -1 if there is none. All committed bytes count as data
     */
    public long seek(long offset, boolean hole) {
        return bytes.locked(() -> bytes.content().seek(offset, hole));
    }

    /**
     * Writes the buffer's bytes. Waits at the limits, in turn. A caller that is interrupted there, or refused, after
     * the first bytes were written gets their number, so that it does not write them twice (write(2)).
     *
     * @return bytes written, fewer than there are if it was broken off
     * @throws IOException also if the data that fills memory and staging cannot be committed: caused by the failure
     *     of this file's commit, else by {@link ObjectStoreException.OutOfSpace}
     */
    public int write(long position, ByteBuffer from) throws ObjectStoreException, IOException, InterruptedException {
        return bytes.write(position, from);
    }

    /**
     * {@link #write} if nothing has to be waited for.
     *
     * @return false if something has: some of it may be written, and all of it is to be written again
     */
    public boolean writeNow(long position, ByteBuffer from) throws InterruptedException {
        return bytes.writeNow(position, from);
    }

    /** {@link #write} at the end, even while other callers append. */
    public int append(ByteBuffer from) throws ObjectStoreException, IOException, InterruptedException {
        appends.lockInterruptibly();
        try {
            return bytes.write(size(), from);
        } finally {
            appends.unlock();
        }
    }

    /** Cuts the file, or lets it grow by zeros that take no room. */
    public void truncate(long size) {
        bytes.locked(() -> {
            long before = bytes.content().size();
            if (size != before) {
                long from = Math.min(size, before);
                commits.changes(new ByteRange(from, Math.max(size, before) - from));
                bytes.content().resize(size);
            }
        });
    }

    /** Lets the file grow by zeros to the size: does nothing if it is as long, whoever writes to it meanwhile. */
    public void extend(long size) {
        bytes.locked(() -> truncate(Math.max(size, size())));
    }

    /** Makes the range zeros, within the size: nothing past the end is changed. */
    public void zero(long offset, long length) {
        bytes.locked(() -> {
            long end = Math.min(bytes.content().size(), offset + length);
            if (offset < end) {
                commits.changes(new ByteRange(offset, end - offset));
                bytes.content().zero(offset, end);
            }
        });
    }

    /**
     * From now on each commit gives the object these headers, as {@link ObjectProperties#with} takes them; without another
     * change the next commit is a copy within the store.
     */
    public void keep(SortedMap<String, String> headers) {
        bytes.locked(() -> {
            commits.object().keep(headers);
            commits.changed();
        });
    }

    /** The headers that {@link #keep} has set, in an earlier run too; empty if none are. */
    public SortedMap<String, String> kept() {
        return bytes.locked(commits.object()::kept);
    }

    /**
     * Has the store copy another object's version into this file, which is empty, and commits the file; no byte passes
     * through. An object that is too large for one call comes in several, from front to back.
     *
     * @param range of the object and of the file: all of the object, or the first or next of several
     * @param more whether the caller goes on where this ends, so that the commit waits for that, or for the next commit
     * @return false if nothing was done: the range is to be read and written
     * @throws ObjectStoreException.PreconditionFailed if the object is another by then, and not all of it is cached
     */
    public boolean copyFrom(ObjectVersion source, ByteRange range, boolean more)
            throws ObjectStoreException, IOException, InterruptedException {
        return copies.copy(source, range, more);
    }

    // ---- making it durable and visible

    /** Returns once the content would survive a crash of the node, or is visible, as {@link WritebackConfig#fsync} has it. */
    public void fsync() throws ObjectStoreException, IOException, InterruptedException {
        if (context.config().fsync() == WritebackConfig.Fsync.VISIBLE || !sync.staged()) {
            waits.commit();
        }
    }

    /**
     * Makes the content visible, if it is not, and waits for it. An interrupt ends the waiting, not the commit.
     *
     * @throws ObjectStoreException.PreconditionFailed if another writer has changed the object since it was opened; the
     *     content is kept for recovery and named in the message
     */
    public void commit() throws ObjectStoreException, IOException, InterruptedException {
        sync.renew(true);
        waits.commit();
    }

    /** {@link #commit} for which no program waits: an error stays {@linkplain #unheard unheard}. */
    public void commitInBackground() throws ObjectStoreException, IOException, InterruptedException {
        sync.renew(false);
        waits.commitInBackground();
    }

    /**
     * Makes all writes until now visible, and has no other commit begin until {@link #resumeCommits}, which the
     * caller owes. Until then, callers that want one wait. For a change of the name, which a commit must not meet.
     *
     * @return the version that the store has of it; null if it has none, because the file was removed before
     */
    public @Nullable ObjectVersion commitAndHold() throws ObjectStoreException, IOException, InterruptedException {
        sync.renew(true);
        boolean held = false;
        try {
            waits.hold();
            held = true;
        } finally {
            if (!held) {
                open.endIfDone(null); // no other thread goes on with a closed file
            }
        }
        return committed();
    }

    /**
     * {@link #commitAndHold} without a commit, for a file that the store has nothing of: {@link #renamed} may follow.
     *
     * @return false, and nothing is held, if the store has something of it, or may have
     */
    public boolean holdUncommitted() throws InterruptedException {
        return waits.holdUncommitted();
    }

    /**
     * The file has another key, under which it is committed: the written data is uploaded once, and no object is
     * copied. It is {@linkplain #holdUncommitted held}.
     *
     * @param replaced the object that has this key, which the next commit replaces; null if there is none
     */
    public void renamed(String to, @Nullable ObjectVersion replaced) {
        FileUpload old =
                bytes.<@Nullable FileUpload>locked(() -> commits.object().renamed(to, replaced));
        if (old != null) {
            old.abandon();
        }
    }

    /**
     * Commits begin again, under the name that it has now: those wanted in between at once. To be called before
     * the old name is removed, because a crash finds it under the new one only from then on.
     */
    public void resumeCommits() {
        sync.journalName();
        bytes.locked(commits::resume);
        open.endIfDone(null);
    }

    /** Returns once the content would survive a crash of the node, and commits it in the background. */
    public void closeStaged() throws ObjectStoreException, IOException, InterruptedException {
        if (!sync.staged()) {
            waits.commit();
            return;
        }
        bytes.locked(() -> {
            bytes.staging().closed();
            if (state.isDirty()) {
                commits.beginAfterClose();
            }
        });
    }

    /** Reads the bytes of the base version that are left, if that is gone, and writes them. */
    void materialiseGoneBase() throws ObjectStoreException, IOException, InterruptedException {
        copies.materialiseGoneBase();
    }

    /** {@link #commit}, whatever the object is by now. */
    void commitOver() throws ObjectStoreException, IOException, InterruptedException {
        sync.renew(true);
        waits.commitOver();
    }

    // ---- its name and its handles

    /**
     * The committed content was copied to another key, whose version this is: it is the base version from now on.
     * Writes since then stay above it, and are committed there. Commits are {@linkplain #commitAndHold held}: one
     * that ran would end under the old name.
     */
    public void moved(ObjectVersion to) {
        FileUpload old =
                bytes.<@Nullable FileUpload>locked(() -> commits.object().moved(to));
        if (old != null) {
            old.abandon();
        }
    }

    /**
     * Its name is about to be removed, or taken by another file: nothing of it becomes visible any more once this has
     * returned. It can be read and written until it is released, and a crash still finds it. Either {@link #unlink} or
     * {@link #reinstate} follows, the latter also if this was interrupted.
     *
     * @throws InterruptedException while the store decides about a commit; nothing is withdrawn then
     */
    public void withdraw() throws InterruptedException {
        commits.withdraw();
        sync.withdrawn();
    }

    /**
     * Whether the store may have a version of it that is not {@linkplain #committed known} here, because the answer to a
     * commit was lost. Holds once it is {@linkplain #withdraw withdrawn}.
     */
    public boolean isInDoubt() {
        return commits.inDoubt().isAny();
    }

    /** Undoes {@link #withdraw}: uncommitted content is committed by its open handles, or else in the background. */
    public void reinstate() {
        sync.journalName();
        bytes.locked(state::reinstate);
        open.endIfDone(null);
    }

    /** Its name is gone: it is {@linkplain #withdraw withdrawn}, and no crash finds it any more. */
    public void unlink() {
        commits.detach();
        bytes.locked(bytes::layer).staged().forgetJournal();
        bytes.locked(commits::detached);
        open.endIfDone(null);
    }

    /** @throws IllegalStateException if the file is in a state that no order of calls may lead to */
    void checkInvariants() {
        bytes.locked(() -> {
            state.checkInvariants();
            if (bytes.committing() != null && state.running() == null) {
                throw new IllegalStateException("there is a snapshot and no commit runs: " + state);
            }
            bytes.content().checkInvariants();
            sync.checkInvariants();
            open.checkInvariants();
        });
    }

    /** Whether it has no open handle, and is only there to be committed. */
    boolean isInBackground() {
        return bytes.locked(open::isNone);
    }

    /** Null if the file has no name, or has ended. */
    @Nullable
    Uncommitted uncommitted() {
        Progress progress = progress();
        return bytes.<@Nullable Uncommitted>locked(() -> {
            if (!state.hasName() || state.isEnded()) {
                return null;
            }
            long written = 0;
            long staged = 0;
            for (Block block : bytes.content().blocks()) {
                written += block.data().length();
                staged += block.isUnstaged() ? 0 : block.data().length();
            }
            return new Uncommitted(
                    progress,
                    bytes.content().size(),
                    written,
                    staged,
                    commits.object().uploadedBytes());
        });
    }

    /** The changes that are closed or fsynced by now and not visible; null if there are none. */
    @Nullable
    AwaitedFile awaited() {
        return bytes.<@Nullable AwaitedFile>locked(() -> {
            long changes = open.isNone() ? state.changes() : sync.durableChanges();
            return state.hasName() && state.announced() < changes ? new AwaitedChanges(commits, changes) : null;
        });
    }

    /** Bytes to upload of a file that is committed in the background; -1 if it is not. */
    long backlogBytes() {
        return open.backlogBytes();
    }

    /** One more handle. False if it has been released for the last time: open it anew then. */
    public boolean retain() {
        return open.retain();
    }

    /**
     * Closes one handle. After the last, uncommitted content is committed and the rest is freed, in the background.
     * Never waits.
     */
    public void release() {
        open.release();
    }

    /**
     * Ends a file that an earlier run left while its name was about to go, if the store shows that the name is gone or
     * another object's. Before others have the file.
     */
    void endIfSuperseded() throws InterruptedException {
        if (commits.inDoubt().wasSuperseded(key(), bytes.locked(commits.object()::condition))) {
            open.endIfDone(new ObjectStoreException.PreconditionFailed("its name is gone", null));
        }
    }

    /** Why it could not be committed, once it is {@linkplain Writeback.Listener#abandoned abandoned}: null if a call has reported it. */
    public @Nullable Exception unheard() {
        return bytes.<@Nullable Exception>locked(() -> commits.error().unheard());
    }

    boolean isEnded() {
        return bytes.locked(state::isEnded);
    }

    /** Commits the content of an earlier run, unless the file is open by now: then its handles do. */
    void resume() {
        open.endIfDone(null);
    }

    /** The process ends. @return whether its uncommitted content is durable in staging */
    boolean leave() {
        return !isDirty() || sync.leave();
    }

    /** The mount ends: closes everything, and leaves the staged files for another run. */
    void stop() {
        open.stop();
    }
}
