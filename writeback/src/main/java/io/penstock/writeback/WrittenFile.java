package io.penstock.writeback;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.OperationId;
import io.penstock.objectstore.StoredObject;
import io.penstock.writeback.bytes.BaseLayer;
import io.penstock.writeback.bytes.FileBytes;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockMap;
import io.penstock.writeback.content.RecordedContent;
import io.penstock.writeback.journal.JournalRecord;
import io.penstock.writeback.staging.Recovery;
import io.penstock.writeback.survivors.FileRecord;
import io.penstock.writeback.survivors.Survivor;
import io.penstock.writeback.upload.FileUpload;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The current content of one file: the written bytes over the committed version. All handles of its inode share it,
 * readers too. After a commit it continues on the new base version. Positional; safe for use by any number of threads.
 * There is at most one per key at a time.
 *
 * <p>A commit takes the content as it is at its beginning. Writers continue meanwhile: a block that they change is
 * copied first and belongs to the next commit. An {@link #fsync} during a commit waits a moment for it, then makes it
 * yield: staging does not depend on the store.
 *
 * <p>An {@link ObjectStoreException} or {@link IOException} of an upload or of staging sticks to the file until
 * {@link #fsync}, {@link #commit} or {@link #closeStaged} has thrown it once. No data is dropped because of it. A write
 * throws it too, if it would otherwise wait for memory in vain.
 */
public final class WrittenFile {
    private static final Logger log = LoggerFactory.getLogger(WrittenFile.class);

    private final MountContext context;
    private final Listener listener;
    private final Birth birth;
    private final FileState state;
    private final FileCommits commits;
    private final FileBytes bytes;
    private final ContentWrites writes;
    private final WholeCopy copies;
    private final FileSync sync;
    private volatile long inode;

    /** The progress of the written content. */
    public enum Progress {
        /** It would not survive a crash of the machine. */
        DIRTY,
        /** It would, and is not being uploaded. */
        STAGED,
        /** A commit of it runs or waits for its next attempt. */
        SENT,
        /** The object contains it. */
        VISIBLE
    }

    /**
     * The progress of a written file towards the store.
     *
     * @param progress of the whole file
     * @param size of the file in bytes
     * @param writtenBytes that the base version does not contain
     * @param stagedBytes of these on the staging disk, in whole blocks
     * @param uploadedBytes of the next version that the store has
     */
    public record Uncommitted(Progress progress, long size, long writtenBytes, long stagedBytes, long uploadedBytes) {}

    /**
     * How the content came to be written.
     *
     * @param number identifies the content, also in the mount's next process; never used twice in a mount
     * @param over the version that it was first written over, or in whose place; null for a new name
     * @param by the operation that created the file; null if it was opened, or created by no request of the kernel
     */
    record Birth(
            long number,
            @Nullable ObjectVersion over,
            @Nullable OperationId by) {}

    /** Notified of the file's commits and its end. */
    interface Listener {
        /** The object is now at this version. */
        void committed(WrittenFile file, StoredObject object);

        /** It is closed and everything is freed. Not called if the mount ends first. */
        void ended(WrittenFile file, Ending ending);
    }

    /** How a file ends. */
    enum Ending {
        /** Everything is committed, or the name is gone. */
        DONE,
        /** An earlier run removed or replaced its name just before the crash. */
        SUPERSEDED,
        /** Its commit failed. Its content waits for {@code penstock recover}. */
        FAILED
    }

    private WrittenFile(
            MountContext context,
            Listener listener,
            Birth birth,
            String key,
            BlockMap content,
            BaseLayer layer,
            Instant modified,
            int handles) {
        this.context = context;
        this.listener = listener;
        this.birth = birth;
        this.state = new FileState(key, modified, handles);
        FileRecord record = new FileRecord(context.log(), birth.number(), new Recorded());
        this.commits = new FileCommits(
                context, state, content, layer, record, object -> listener.committed(this, object), this::endIfDone);
        this.bytes = commits.bytes;
        this.writes = new ContentWrites(commits);
        this.copies = new WholeCopy(commits, writes);
        this.sync = new FileSync(commits, copies);
    }

    static WrittenFile create(MountContext context, Listener listener, String key, @Nullable ObjectVersion replaced) {
        BaseLayer layer = context.resources().layer(null);
        Birth birth = new Birth(context.newNumber(), replaced, OperationId.ofRequest(key));
        WrittenFile file = new WrittenFile(context, listener, birth, key, new BlockMap(0), layer, context.now(), 1);
        file.state.created(replaced);
        file.commits.createdBy(birth.by());
        return file;
    }

    static WrittenFile open(MountContext context, Listener listener, ObjectVersion base) {
        Birth birth = new Birth(context.newNumber(), base, null);
        BlockMap content = new BlockMap(base.size());
        BaseLayer layer = context.resources().layer(base);
        return new WrittenFile(context, listener, birth, base.key(), content, layer, base.lastModified(), 1);
    }

    /** A file of an earlier run, without a handle. */
    static WrittenFile recovered(MountContext context, Listener listener, Recovery.Found found) {
        JournalRecord.Opened opened = found.opened();
        BaseLayer layer = new BaseLayer(opened.base(), context.resources().base(), found.staged());
        Instant modified = found.written().modified();
        Recovery.Survived survived = found.survived();
        Birth birth = survived == null ? new Birth(context.newNumber(), opened.base(), null) : birth(survived.file());
        int handles = survived == null ? 0 : 1; // it must not end before its handles are known
        WrittenFile file =
                new WrittenFile(context, listener, birth, opened.key(), found.content(), layer, modified, handles);
        file.commits.found(found);
        file.commits.object.setHeaders(found.written().headers());
        if (survived == null) {
            file.sync.found();
        } else {
            file.takeOver(survived);
        }
        return file;
    }

    private static Birth birth(Survivor left) {
        Survivor.Header header = left.header();
        return new Birth(left.number(), header.firstOver(), header.creation());
    }

    private void takeOver(Recovery.Survived survived) {
        Survivor left = survived.file();
        inode = left.header().inode();
        bytes.takeOver(left, survived.memory()::takeOver);
        if (!left.header().hasName()) {
            bytes.locked(() -> {
                state.withdraw();
                state.detach();
            });
        }
    }

    /** What is recorded of it for the mount's next process. Called with the lock. */
    private final class Recorded implements FileRecord.File {
        /** All that is in a {@link #header}, by values that are cheap to compare. */
        private record Aspect(
                BlockMap content,
                int shape,
                BaseLayer layer,
                @Nullable ObjectVersion base,
                FileState.Name name,
                String key,
                @Nullable ObjectVersion replaced,
                SortedMap<String, String> headers,
                int doubts,
                boolean isChanged,
                long inode) {
            /** The one that a record has calls method handles, which take microseconds without the optimizing compiler. */
            @Override
            public boolean equals(Object other) {
                return other instanceof Aspect that
                        && content == that.content
                        && shape == that.shape
                        && layer == that.layer
                        && Objects.equals(base, that.base)
                        && Objects.equals(name, that.name)
                        && Objects.equals(key, that.key)
                        && Objects.equals(replaced, that.replaced)
                        && Objects.equals(headers, that.headers)
                        && doubts == that.doubts
                        && isChanged == that.isChanged
                        && inode == that.inode;
            }

            @Override
            public int hashCode() {
                return key.hashCode();
            }
        }

        @Override
        public Object aspect() {
            return new Aspect(
                    bytes.content(),
                    bytes.content().shape(),
                    bytes.layer(),
                    bytes.recorded().base(bytes.layer()),
                    state.name(),
                    state.key(),
                    state.replaced(),
                    commits.object.headers(),
                    commits.inDoubt.listed(),
                    state.isChanged(),
                    inode);
        }

        @Override
        public Survivor.Header header() {
            RecordedContent content = bytes.recorded().content(bytes.content(), bytes.committing());
            Commit made = bytes.recorded().isMade() ? state.running() : null;
            long changes = state.changes();
            return new Survivor.Header(
                    inode,
                    birth.over(),
                    birth.by(),
                    commits.object.recorded(),
                    new JournalRecord.Written(
                            content.size(),
                            content.baseEnd(),
                            Long.MAX_VALUE,
                            state.modified(),
                            content.zeros().toList(),
                            List.of(),
                            commits.object.headers()),
                    !(state.name() instanceof FileState.Name.Detached),
                    !state.hasName(),
                    made == null ? state.isChanged() : changes > made.changes(),
                    bytes.recorded().staged(bytes.layer()),
                    bytes.recorded().isMade() ? 0 : bytes.layer().data().generation(),
                    bytes.recorded().replacedStaged(bytes.layer()),
                    made == null ? commits.inDoubt.sent(changes, false) : List.of(),
                    made == null ? commits.inDoubt.sent(changes, true) : List.of());
        }

        @Override
        public RecordedContent content() {
            return bytes.recorded().content(bytes.content(), bytes.committing());
        }

        @Override
        public boolean isStored() {
            return !bytes.recorded().isMade();
        }

        @Override
        public Instant modified() {
            return state.modified();
        }

        @Override
        public void describeAnew() {
            bytes.locked(() -> bytes.recorded().record().describe());
        }
    }

    /** From now on the mount's next process knows it. */
    void begin() {
        bytes.locked(() -> bytes.recorded().record().describe());
    }

    FileRecord record() {
        return bytes.locked(() -> bytes.recorded().record());
    }

    FileBytes bytes() {
        return bytes;
    }

    /** Identifies the content, also in the mount's next process: never used twice in a mount. */
    public long number() {
        return birth.number();
    }

    /** The version that it was first written over, or in whose place; null for a new name. */
    public @Nullable ObjectVersion firstOver() {
        return birth.over();
    }

    /** The operation that created the file; null if it was opened, or created by no request of the kernel. */
    public @Nullable OperationId creation() {
        return birth.by();
    }

    /** The inode whose content it is; 0 if that is not known. */
    public long inode() {
        return inode;
    }

    /** It is the content of this inode, also in the mount's next process. */
    public void setInode(long number) {
        bytes.locked(() -> {
            inode = number;
        });
    }

    /** Whether it is committed under a name: not once that was removed, or given to another file. */
    public boolean hasName() {
        return bytes.locked(state::hasName);
    }

    public String key() {
        return commits.key();
    }

    /** Bytes, including uncommitted ones. */
    public long size() {
        return bytes.locked(() -> bytes.content().size());
    }

    /** Time of the last change, or of the committed version if nothing has changed since. */
    public Instant modified() {
        return bytes.locked(state::modified);
    }

    /** The committed version; null if there is none yet. */
    public @Nullable ObjectVersion committed() {
        return bytes.<@Nullable ObjectVersion>locked(commits.object::committed);
    }

    /** The version whose properties the next commit keeps; null if there is none. */
    public @Nullable ObjectVersion inherited() {
        return bytes.<@Nullable ObjectVersion>locked(commits.object::inherited);
    }

    /** The version with exactly this content; null if there is none. */
    public @Nullable ObjectVersion version() {
        return bytes.<@Nullable ObjectVersion>locked(() -> state.isChanged() ? null : commits.object.committed());
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
     * @return the first byte at or after {@code offset} that is data or, for {@code hole}, that lies in a hole (the
     *     file's end is one); -1 if there is none. All committed bytes count as data
     */
    public long seek(long offset, boolean hole) {
        return bytes.locked(() -> bytes.content().seek(offset, hole));
    }

    /**
     * Writes the buffer's bytes. Waits its turn at the limits. A caller that is interrupted or refused there after the
     * first bytes were written receives their number, so that it does not write them twice (write(2)).
     *
     * @return bytes written, fewer than given if it stopped early
     * @throws IOException also if memory and staging are full of data that cannot be committed: caused by the failure
     *     of this file's commit, or else by {@link ObjectStoreException.OutOfSpace}
     */
    public int write(long position, ByteBuffer from) throws ObjectStoreException, IOException, InterruptedException {
        return writes.write(position, from);
    }

    /**
     * {@link #write} if it need not wait.
     *
     * @return false if it would have to: some bytes may be written, and the caller must write all of them again
     */
    public boolean writeNow(long position, ByteBuffer from) throws InterruptedException {
        return writes.writeNow(position, from);
    }

    /** {@link #write} at the end, even while other callers append. */
    public int append(ByteBuffer from) throws ObjectStoreException, IOException, InterruptedException {
        return writes.append(from);
    }

    /** Cuts the file, or extends it with zeros that take no space. */
    public void truncate(long size) {
        writes.truncate(size);
    }

    /** Extends the file with zeros to this size. Does nothing if it is already as long, even during other writes. */
    public void extend(long size) {
        bytes.locked(() -> truncate(Math.max(size, size())));
    }

    /** Sets the range to zeros, within the size: nothing changes past the end. */
    public void zero(long offset, long length) {
        writes.zero(offset, length);
    }

    /**
     * From now on each commit gives the object these headers, as {@link ObjectProperties#with} accepts them. Without
     * other changes the next commit is a copy within the store.
     */
    public void setHeaders(SortedMap<String, String> headers) {
        bytes.locked(() -> {
            commits.object.setHeaders(headers);
            commits.changed();
        });
    }

    /** The headers set by {@link #setHeaders}, also in an earlier run; empty if there are none. */
    public SortedMap<String, String> headers() {
        return bytes.locked(commits.object::headers);
    }

    /**
     * Makes the store copy another object's version into this empty file, and commits the file. Its bytes do not pass
     * through here. An object too large for one call is copied in several, from front to back.
     *
     * @param range of the object and of the file: the whole object, or the first or next of several
     * @param more whether the caller continues after the range, so that the commit waits for that, or for the next
     *     commit
     * @return false if nothing was done: the caller must read and write the range
     * @throws ObjectStoreException.PreconditionFailed if the object has changed and is not entirely cached
     */
    public boolean copyFrom(ObjectVersion source, ByteRange range, boolean more)
            throws ObjectStoreException, IOException, InterruptedException {
        return copies.copy(source, range, more);
    }

    // ---- making it durable and visible

    /** Returns once the content would survive a crash of the node or is visible, per {@link WritebackConfig#fsync}. */
    public void fsync() throws ObjectStoreException, IOException, InterruptedException {
        if (context.config().fsync() == WritebackConfig.Fsync.VISIBLE || !sync.staged()) {
            commits.commit();
        }
    }

    /**
     * Makes the content visible, if it is not, and waits for it. An interrupt ends the wait, not the commit.
     *
     * @throws ObjectStoreException.PreconditionFailed if another writer has changed the object since it was opened; the
     *     content is kept for recovery and named in the message
     */
    public void commit() throws ObjectStoreException, IOException, InterruptedException {
        sync.renew(true);
        commits.commit();
    }

    /** {@link #commit} without a waiting program: an error stays {@linkplain #unheard unheard}. */
    public void commitInBackground() throws ObjectStoreException, IOException, InterruptedException {
        sync.renew(false);
        commits.commitInBackground();
    }

    /**
     * Makes all earlier writes visible, and holds other commits and their callers until {@link #resumeCommits}, which
     * this caller must call. For a change of the name, which must not coincide with a commit.
     *
     * @return the store's version of the file; null if there is none, because the file was removed before
     */
    public @Nullable ObjectVersion commitAndHold() throws ObjectStoreException, IOException, InterruptedException {
        sync.renew(true);
        boolean held = false;
        try {
            commits.hold();
            held = true;
        } finally {
            if (!held) {
                endIfDone(null); // no other thread ends a closed file
            }
        }
        return committed();
    }

    /**
     * {@link #commitAndHold} without a commit, for a file that the store does not know. {@link #renamed} may follow.
     *
     * @return false, and nothing is held, if the store has or may have some of the file
     */
    public boolean holdUncommitted() throws InterruptedException {
        return commits.holdUncommitted();
    }

    /**
     * The file has another key, under which it is committed: the written data is uploaded once, and no object is
     * copied. It is {@linkplain #holdUncommitted held}.
     *
     * @param replaced the object that has this key, which the next commit replaces; null if there is none
     */
    public void renamed(String to, @Nullable ObjectVersion replaced) {
        FileUpload old = bytes.<@Nullable FileUpload>locked(() -> commits.object.renamed(to, replaced));
        if (old != null) {
            old.abandon();
        }
    }

    /**
     * Lets commits begin again, under the current name; those requested meanwhile begin immediately. Call before the
     * old name is removed: only from then on is the file found under the new one after a crash.
     */
    public void resumeCommits() {
        sync.journalName();
        bytes.locked(commits::resume);
        endIfDone(null);
    }

    /** Returns once the content would survive a crash of the node, and commits it in the background. */
    public void closeStaged() throws ObjectStoreException, IOException, InterruptedException {
        if (!sync.staged()) {
            commits.commit();
            return;
        }
        bytes.locked(() -> {
            bytes.staging().closed();
            if (state.isDirty()) {
                commits.beginAfterClose();
            }
        });
    }

    /** If the base version is gone, reads its remaining bytes and writes them. */
    void materialiseGoneBase() throws ObjectStoreException, IOException, InterruptedException {
        copies.materialiseGoneBase();
    }

    /** {@link #commit}, whatever the object is now. */
    void commitOver() throws ObjectStoreException, IOException, InterruptedException {
        sync.renew(true);
        commits.commitOver();
    }

    // ---- name and handles

    /**
     * The committed content was copied to another key as this version, which becomes the base version. Writes since
     * then stay above it and are committed to it. Commits are {@linkplain #commitAndHold held}: a running one would end
     * under the old name.
     */
    public void moved(ObjectVersion to) {
        FileUpload old = bytes.<@Nullable FileUpload>locked(() -> commits.object.moved(to));
        if (old != null) {
            old.abandon();
        }
    }

    /**
     * The name is about to be removed or given to another file: once this has returned, no more of the file's content
     * becomes visible. The file can be read and written until its release, and is still found after a crash. {@link
     * #unlink} or {@link #reinstate} follows, the latter also if this was interrupted.
     *
     * @throws InterruptedException while the store decides a commit; nothing is withdrawn then
     */
    public void withdraw() throws InterruptedException {
        commits.withdraw();
        sync.withdrawn();
    }

    /**
     * Whether the store may have a version of the file not {@linkplain #committed known} here, because the response to
     * a commit was lost. Valid once the file is {@linkplain #withdraw withdrawn}.
     */
    public boolean isInDoubt() {
        return commits.inDoubt.isAny();
    }

    /** Undoes {@link #withdraw}: uncommitted content is committed by its open handles, or else in the background. */
    public void reinstate() {
        sync.journalName();
        bytes.locked(state::reinstate);
        endIfDone(null);
    }

    /** The name is gone: the file is {@linkplain #withdraw withdrawn}, and is no longer found after a crash. */
    public void unlink() {
        commits.detach();
        bytes.locked(bytes::layer).staged().forgetJournal();
        bytes.locked(() -> {
            state.detach();
            commits.error.clear(); // no caller waits for the content
        });
        endIfDone(null);
    }

    /** @throws IllegalStateException if no order of calls may lead to the file's state */
    void checkInvariants() {
        bytes.locked(() -> {
            state.checkInvariants();
            if (bytes.committing() != null && state.running() == null) {
                throw new IllegalStateException("there is a snapshot and no commit runs: " + state);
            }
            bytes.content().checkInvariants();
            if (state.isEnded() && !state.isInBackground() && !context.isClosed()) {
                throw new IllegalStateException("ended with handles: " + state);
            }
        });
    }

    /** Whether it has no open handle and only waits to be committed. */
    boolean isInBackground() {
        return bytes.locked(state::isInBackground);
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
            return new Uncommitted(progress, bytes.content().size(), written, staged, commits.object.uploadedBytes());
        });
    }

    /** The changes closed or fsynced so far and not visible; null if there are none. */
    @Nullable
    AwaitedFile awaited() {
        return bytes.<@Nullable AwaitedFile>locked(() -> {
            long changes = state.isInBackground() ? state.changes() : state.durable();
            return state.hasName() && state.announced() < changes ? new AwaitedChanges(changes) : null;
        });
    }

    /** The changes up to some number, that a caller waits for. */
    private final class AwaitedChanges implements AwaitedFile {
        private final long changes;

        AwaitedChanges(long changes) {
            this.changes = changes;
        }

        @Override
        public String key() {
            return WrittenFile.this.key();
        }

        @Override
        public AwaitedFile.Progress progress() {
            return bytes.locked(() -> {
                boolean isRemoved = !state.hasName() && !state.isUndecided();
                if (state.announced() >= changes || isRemoved) {
                    return new AwaitedFile.Progress.Visible();
                }
                Exception failure = commits.error.unreported();
                boolean isOver = state.isEnded() || !state.isCommitUnderWay();
                if (isOver && failure != null && Commit.outlook(failure) != Commit.Outlook.TEMPORARY) {
                    return new AwaitedFile.Progress.Failed(
                            Objects.requireNonNullElse(failure.getMessage(), failure.toString()));
                } else if (state.isEnded()) {
                    return new AwaitedFile.Progress.Visible(); // an earlier run removed or replaced its name
                } else if (isOver && !context.isClosed()) {
                    commits.beginInBackground();
                }
                return new AwaitedFile.Progress.Waiting(bytesToUpload());
            });
        }
    }

    /** Bytes still to upload if the file is committed in the background, else -1. */
    long backlogBytes() {
        return bytes.locked(() -> {
            Commit running = state.running();
            boolean inBackground = state.isInBackground() || (running != null && running.isInBackground());
            return state.isEnded() || !state.isDirty() || !inBackground ? -1 : bytesToUpload();
        });
    }

    /** Caller holds the lock. */
    private long bytesToUpload() {
        return Math.max(0, bytes.content().size() - commits.object.uploadedBytes());
    }

    /** Adds a handle. False if the last one has been released: then open the file again. */
    public boolean retain() {
        return bytes.locked(state::retain);
    }

    /**
     * Closes one handle. The last close commits uncommitted content and frees the rest, in the background. Never waits.
     */
    public void release() {
        boolean last = bytes.locked(() -> {
            state.release();
            return state.isInBackground();
        });
        if (last) {
            context.background().run(() -> endIfDone(null));
        }
    }

    /**
     * Ends a file whose name was about to be removed when an earlier run ended, if the store shows that the name is
     * gone or another object's. Called before others have the file.
     */
    void endIfSuperseded() throws InterruptedException {
        if (commits.inDoubt.wasSuperseded(key(), bytes.locked(commits.object::condition))) {
            endIfDone(new ObjectStoreException.PreconditionFailed("its name was removed or replaced", null));
        }
    }

    /** The same for a file with handles, which go on using it without a name. */
    void unlinkIfSuperseded() throws InterruptedException {
        if (commits.inDoubt.wasSuperseded(key(), bytes.locked(commits.object::condition))) {
            unlink();
        }
    }

    /** Why it was {@linkplain Writeback.Listener#abandoned abandoned}; null if a call has reported the reason. */
    public @Nullable Exception unheard() {
        return bytes.<@Nullable Exception>locked(() -> commits.error.unheard());
    }

    boolean isEnded() {
        return bytes.locked(state::isEnded);
    }

    /** Commits the content of an earlier run, unless the file is open by now: then its handles do. */
    void resume() {
        endIfDone(null);
    }

    /** The process ends. @return whether the uncommitted content is durable in staging */
    boolean leave() {
        return !isDirty() || sync.leave();
    }

    // ---- its end

    /**
     * If no handle is left and no commit runs, commits the rest. Frees everything if there is no rest, or committing it
     * is futile.
     *
     * @param failure of the last commit; null if it succeeded
     */
    private void endIfDone(@Nullable Exception failure) {
        Ending ending;
        bytes.lock().lock();
        try {
            if (!state.isInBackground() || state.isUndecided() || state.isEnded() || context.isClosed()) {
                return; // the end of the mount stops the remaining files
            }
            if (state.isDirty() && (failure == null || Commit.outlook(failure) == Commit.Outlook.TEMPORARY)) {
                commits.beginInBackground();
                return;
            }
            ending = ending(failure);
            if (ending == Ending.FAILED && failure != null) {
                commits.error.setPermanent(failure); // callers that waited for the commit may not have read it yet
            }
            state.end();
        } finally {
            bytes.lock().unlock();
        }
        if (ending == Ending.FAILED && failure != null) {
            sync.saveForRecovery(failure);
        } else if (ending == Ending.SUPERSEDED) {
            log.info("'{}' was removed or replaced just before the crash", key());
        }
        free(ending == Ending.FAILED);
        listener.ended(this, ending);
    }

    /** How the file ends now. A file of an earlier run that was changed since is not superseded. */
    private Ending ending(@Nullable Exception failure) {
        if (!state.isDirty()) {
            return Ending.DONE;
        }
        boolean isAsFound = state.changes() == 1;
        boolean isSuperseded = commits.inDoubt.isSuperseded() && isAsFound;
        return failure == null || isSuperseded ? Ending.SUPERSEDED : Ending.FAILED;
    }

    /** The mount ends: closes everything and leaves the staged files to the next run. */
    void stop() {
        boolean keep;
        bytes.lock().lock();
        try {
            if (state.isEnded()) {
                return;
            }
            keep = state.isFoundAgain();
            state.end();
        } finally {
            bytes.lock().unlock();
        }
        free(keep);
    }

    private void free(boolean keep) {
        FileUpload left;
        BaseLayer base;
        bytes.lock().lock();
        try {
            bytes.recorded().record().end();
            left = commits.object.takeUpload();
            bytes.content().drop();
            base = bytes.layer();
        } finally {
            bytes.lock().unlock();
        }
        if (keep) {
            base.staged().uncount();
        } else {
            base.staged().remove();
        }
        base.release();
        if (left != null && keep) {
            left.stop();
        } else if (left != null) {
            left.abandon();
        }
    }
}
