package io.penstock.writeback;

import static io.penstock.writeback.Writeback.BLOCK_SIZE;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.WriteCondition;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
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
 * belongs to the next commit.
 *
 * <p>An {@link ObjectStoreException} or {@link IOException} of an upload or of staging sticks to the file until
 * {@link #fsync}, {@link #commit} or {@link #closeStaged} has thrown it once; nothing is dropped because of it.
 */
public final class WrittenFile {
    private final Shared shared;

    /** Makes appends follow each other; held while they wait for memory. Taken before {@link #lock}. */
    private final ReentrantLock appends = new ReentrantLock(true);

    /**
     * Guards what follows, and the blocks. Held for copying bytes to and from memory, never for I/O or while waiting for
     * anything but {@link #progress}.
     */
    private final ReentrantLock lock = new ReentrantLock();

    /** A commit has ended, or a block may be staged again. */
    private final Condition progress = lock.newCondition();

    private final StickyError error = new StickyError();
    private String key;
    private Content content;
    private Ground ground;

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

    /** What the files of a mount share. */
    Shared shared() {
        return shared;
    }

    private WrittenFile(Shared shared, String key, Ground ground, Instant modified) {
        this.shared = shared;
        this.key = key;
        this.ground = ground;
        this.content = new Content(ground.baseSize());
        this.modified = modified;
    }

    static WrittenFile create(Shared shared, String key, @Nullable ObjectVersion replaced) {
        WrittenFile file = new WrittenFile(shared, key, new Ground(null, shared.base()), shared.now());
        file.replaced = replaced;
        file.changes = 1; // that there is such a file
        return file;
    }

    static WrittenFile open(Shared shared, ObjectVersion base) {
        return new WrittenFile(shared, base.key(), new Ground(base, shared.base()), base.lastModified());
    }

    public String key() {
        return locked(() -> key);
    }

    /** Bytes, with what is written and not yet committed. */
    public long size() {
        return locked(() -> content.size());
    }

    /** Of the last change; of the committed version if there was none since. */
    public Instant modified() {
        return locked(() -> modified);
    }

    /** What is committed of it: null if nothing is yet. */
    public @Nullable ObjectVersion committed() {
        lock.lock();
        try {
            return ground.version();
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

    // ---- reading

    /** @return bytes read until the buffer is full or the file ends */
    public int read(long position, ByteBuffer to) throws ObjectStoreException, IOException, InterruptedException {
        int limit = to.limit();
        int start = to.position();
        long available = Math.max(0, size() - position);
        to.limit(start + (int) Math.min(to.remaining(), available));
        try {
            read(null, position, to);
            return to.position() - start;
        } finally {
            to.limit(limit);
        }
    }

    /**
     * Fills the buffer.
     *
     * @param still what to read; null for the file as it is
     */
    void read(@Nullable StillContent still, long position, ByteBuffer to)
            throws ObjectStoreException, IOException, InterruptedException {
        long at = position;
        while (to.hasRemaining()) {
            at += readRun(still, at, to);
        }
    }

    /** Reads a run of bytes that are in one place. 0 if that was given up meanwhile: to be tried again. */
    private int readRun(@Nullable StillContent still, long position, ByteBuffer to)
            throws ObjectStoreException, IOException, InterruptedException {
        Segment segment;
        int length;
        Ground under;
        lock.lock();
        try {
            Content view = still == null ? content : still.content();
            segment = view.at(position, position + to.remaining());
            length = Math.toIntExact(segment.end() - position);
            Block block = segment.block();
            if (segment.source() == Segment.Source.MEMORY && block != null) {
                block.read(position, to, length);
                return length;
            }
            under = (still == null ? ground : still.ground()).use();
        } finally {
            lock.unlock();
        }
        boolean valid = true;
        try {
            readFrom(segment.source(), under, position, to.slice(to.position(), length));
        } finally {
            lock.lock();
            try {
                valid = still != null || under == ground;
                under.release();
            } finally {
                lock.unlock();
            }
        }
        if (!valid) {
            return 0;
        }
        to.position(to.position() + length);
        return length;
    }

    private void readFrom(Segment.Source source, Ground under, long position, ByteBuffer to)
            throws ObjectStoreException, IOException, InterruptedException {
        int length = to.remaining();
        int read = switch (source) {
            case HOLE -> {
                while (to.hasRemaining()) {
                    to.put(ZEROS, 0, Math.min(ZEROS.length, to.remaining()));
                }
                yield length;
            }
            case BASE -> under.reader().read(position, to);
            case STAGED, MEMORY -> throw new IOException("nothing of " + key + " is staged");
        };
        if (read < length) {
            throw new IOException("what is below '" + key + "' ends at " + (position + read) + ", too early");
        }
    }

    private static final byte[] ZEROS = new byte[64 << 10];

    /**
     * @return the first byte at or behind {@code offset} that is data, or, for {@code hole}, that lies in a hole (the
     *     file's end is one); -1 if there is none. What is committed counts as data
     */
    public long seek(long offset, boolean hole) {
        lock.lock();
        try {
            return content.seek(offset, hole);
        } finally {
            lock.unlock();
        }
    }

    // ---- writing

    /** Writes all that the buffer holds. Waits at the limits, in turn. */
    public void write(long position, ByteBuffer from) throws ObjectStoreException, IOException, InterruptedException {
        ByteBuffer spare = null;
        try {
            for (long at = position; from.hasRemaining(); ) {
                int length = Math.min(from.remaining(), (int) (BLOCK_SIZE - at % BLOCK_SIZE));
                ByteBuffer part = from.slice(from.position(), length);
                if (!tryWrite(at, part, spare)) {
                    spare = shared.memory().acquire();
                    continue;
                }
                spare = null; // either it was not needed, or it is the block's now
                from.position(from.position() + length);
                at += length;
            }
        } finally {
            if (spare != null) {
                shared.memory().release(spare);
            }
        }
    }

    /** Writes within one block. False if that needs memory and none was brought. */
    private boolean tryWrite(long position, ByteBuffer from, @Nullable ByteBuffer spare) {
        lock.lock();
        try {
            Block current = content.block(Content.indexOf(position));
            boolean needsMemory = current == null || current.isHeld() || current.needsMemory();
            if (needsMemory && spare == null) {
                return false;
            }
            ByteRange range = new ByteRange(position, from.remaining());
            changes(range);
            Block block = content.blockForWriting(position);
            if (block.needsMemory() && spare != null) {
                block.give(new Piece(shared.memory(), spare));
            } else if (spare != null) {
                shared.memory().release(spare); // somebody else brought some meanwhile
            }
            boolean wasWhole = block.isWhole();
            block.write(position, from);
            content.grow(range.end());
            if (block.isWhole() && (!wasWhole || range.end() == block.end())) {
                ready(block);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** The range is about to be changed. */
    private void changes(ByteRange range) {
        changes++;
        modified = shared.now();
        Upload current = upload;
        if (current != null && committing == null) {
            current.changed(range);
        }
    }

    private void ready(Block block) {
        if (committing == null && !unlinked) {
            upload().ready(new ByteRange(block.start(), BLOCK_SIZE));
        }
    }

    private Upload upload() {
        Upload current = upload;
        if (current == null) {
            current = shared.uploads().begin(key, ground.version(), new UploadedContent(), NoJournal.INSTANCE);
            upload = current;
        }
        return current;
    }

    /** Writes at the end, whoever else appends. @return where it was written */
    public long append(ByteBuffer from) throws ObjectStoreException, IOException, InterruptedException {
        appends.lockInterruptibly();
        try {
            long end = size();
            write(end, from);
            return end;
        } finally {
            appends.unlock();
        }
    }

    /** Cuts the file, or lets it grow by zeros that take no room. */
    public void truncate(long size) throws ObjectStoreException, IOException, InterruptedException {
        lock.lock();
        try {
            long before = content.size();
            if (size != before) {
                long from = Math.min(size, before);
                changes(new ByteRange(from, Math.max(size, before) - from));
                content.resize(size);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Makes the range zeros, within the size: nothing behind the end is changed. */
    public void zero(long offset, long length) throws ObjectStoreException, IOException, InterruptedException {
        lock.lock();
        try {
            long end = Math.min(content.size(), offset + length);
            if (offset < end) {
                changes(new ByteRange(offset, end - offset));
                content.zero(offset, end);
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

    // ---- making it durable and visible

    /** Returns once the content would survive a crash of the node, or is visible, as {@link WritebackConfig#fsync} has it. */
    public void fsync() throws ObjectStoreException, IOException, InterruptedException {
        commit();
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

    /** Returns once the content would survive a crash of the node, and commits it behind. */
    public void closeStaged() throws ObjectStoreException, IOException, InterruptedException {
        fsync();
    }

    private void beginCommit(boolean behind) {
        if (committing == null) {
            StillContent still = hold(0, content.size());
            content.commitBegins();
            committing = new Commit(this, upload(), still, changes, condition(), behind);
            shared.commits().execute(committing);
        }
    }

    private WriteCondition condition() {
        ObjectVersion base = ground.version() != null ? ground.version() : replaced;
        if (shared.config().conflict() == WritebackConfig.Conflict.OVERWRITE) {
            return WriteCondition.ALWAYS;
        }
        return base == null ? WriteCondition.ABSENT : new WriteCondition.Unchanged(base.etag());
    }

    /** The commit succeeded: the new version lies beneath, and above it what was changed meanwhile. */
    void committed(Commit commit, ObjectVersion version) {
        lock.lock();
        try {
            Ground old = ground;
            ground = new Ground(version, shared.base());
            content = content.over(version.size(), commit.content().content());
            upload = null;
            replaced = null;
            committedChanges = commit.changes();
            if (changes == committedChanges) {
                modified = version.lastModified();
            }
            old.release();
        } finally {
            lock.unlock();
        }
    }

    /** Nothing of the commit is done any more; the failure is null if it succeeded. */
    void ended(Commit commit, @Nullable Exception failure) {
        boolean last;
        lock.lock();
        try {
            committing = null;
            announcedChanges = committedChanges;
            commit.content().close();
            if (failure != null && !unlinked) {
                error.set(failure);
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

    /** What an upload reads of this file: what is being committed, or else what there is. */
    private final class UploadedContent implements FileContent {
        @Override
        public List<Run> runs(ByteRange within) {
            lock.lock();
            try {
                return (committing == null ? content : committing.content().content()).runs(within, ground.version());
            } finally {
                lock.unlock();
            }
        }

        @Override
        public StillBody body(ByteRange range) {
            lock.lock();
            try {
                Content from =
                        committing == null ? content : committing.content().content();
                return new StillContent(WrittenFile.this, from.hold(range.offset(), range.end()), ground.use(), range);
            } finally {
                lock.unlock();
            }
        }
    }

    private StillContent hold(long from, long to) {
        return new StillContent(
                this, content.hold(from, to), ground.use(), new ByteRange(from, Math.max(1, to - from)));
    }

    /** Nobody needs what was held still any more. */
    void letGo(StillContent still) {
        lock.lock();
        try {
            still.content().letGo();
            still.ground().release();
            progress.signalAll();
        } finally {
            lock.unlock();
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
            Ground before = ground;
            ground = new Ground(to, shared.base());
            before.release();
            old = upload;
            upload = null;
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
        } finally {
            lock.unlock();
        }
    }

    /** Whether nobody has it open, and it is only there to be committed. */
    boolean isBehind() {
        return locked(() -> handles == 0 && !disposed);
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
        Upload left;
        lock.lock();
        try {
            if (handles > 0 || committing != null || disposed) {
                return;
            }
            if (hasChanges() && failure == null && !shared.isClosed()) {
                beginCommit(true);
                return;
            }
            disposed = true;
            left = upload;
            content.drop();
            ground.release();
        } finally {
            lock.unlock();
        }
        if (left != null) {
            left.abandon();
        }
        shared.ended(this, failure != null && !unlinked);
    }
}
