package io.penstock.writeback.bytes;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockMap;
import io.penstock.writeback.content.Run;
import io.penstock.writeback.content.Segment;
import io.penstock.writeback.upload.FileContent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a written file, wherever they are: in memory, staged, in the version below, in others that it is to be
 * copied from, or nowhere. Safe for use by any number of threads.
 *
 * <p>All that replaces content, layer and snapshot together is here, which is why this class is long; readers of
 * them are beside it: {@link ContentReads}, {@link BlockStaging}, {@link PageChecksums}, {@link Snapshot}.
 */
public final class FileBytes implements BlockMemory.Writer, FileContent {
    private final FileResources resources;
    private final Owner owner;
    private final ContentReads reads;
    private final BlockStaging staging;
    private final PageChecksums sums;

    /**
     * Guards the bytes, the blocks, and the owner's state. Held while bytes are copied to and from memory, never
     * for I/O or while waiting for anything but {@link #progress}. Callers know it by names of their own, so that the
     * compiler cannot check those that have to hold it.
     */
    private final ReentrantLock lock = new ReentrantLock();

    /** Something has ended: a commit, the staging of a block, a body of an upload. */
    private final Condition progress = lock.newCondition();

    @GuardedBy("lock")
    private BlockMap content;

    @GuardedBy("lock")
    private BaseLayer layer;

    /**
     * The content that is being committed; nothing else may be staged until it is, because the data file is that
     * version's.
     */
    @GuardedBy("lock")
    private @Nullable Snapshot committing;

    /** The blocks of a snapshot whose commit was {@linkplain #leave left}, as they were; null if the store decides about none. */
    @GuardedBy("lock")
    private @Nullable Map<Block, Integer> left;

    /** The file that the bytes belong to. Called under the lock. */
    public interface Owner {
        String key();

        /** The range is about to be changed. */
        void changes(ByteRange range);

        /** The block has become whole. */
        void whole(Block block);

        /** Commits the file to free its memory. False if there is nothing to commit, or that has failed a moment ago. */
        boolean commitToFreeMemory();

        /** Whether it is not committed any more, or not before a caller has been told why that has failed. */
        boolean isStuck();

        /** Why it gets no memory; the failure of a commit is told only once. */
        IOException refusal();
    }

    public FileBytes(FileResources resources, Owner owner, BlockMap content, BaseLayer layer) {
        this.resources = resources;
        this.owner = owner;
        this.reads = new ContentReads(this);
        this.staging = new BlockStaging(this, resources, owner);
        this.sums = new PageChecksums(this);
        this.content = content;
        this.layer = layer;
    }

    public ReentrantLock lock() {
        return lock;
    }

    public Condition progress() {
        return progress;
    }

    public ContentReads reads() {
        return reads;
    }

    public BlockStaging staging() {
        return staging;
    }

    PageChecksums sums() {
        return sums;
    }

    public String key() {
        return locked(owner::key);
    }

    /** What it gives with the lock held. */
    public <T extends @Nullable Object> T locked(Supplier<T> read) {
        lock.lock();
        try {
            return read.get();
        } finally {
            lock.unlock();
        }
    }

    /** Runs it with the lock held. */
    public void locked(Runnable change) {
        lock.lock();
        try {
            change.run();
        } finally {
            lock.unlock();
        }
    }

    /** With the lock held, as the next three. */
    @SuppressWarnings("GuardedBy") // the caller holds it
    public BlockMap content() {
        return content;
    }

    @SuppressWarnings("GuardedBy") // the caller holds it
    public BaseLayer layer() {
        return layer;
    }

    /** Whether a commit may have replaced the version below. */
    @SuppressWarnings("GuardedBy") // the caller holds it
    boolean isBeingReplaced() {
        return committing != null || left != null;
    }

    /** The content that is being committed; null if none is. */
    @Nullable
    @SuppressWarnings("GuardedBy") // the caller holds it
    public BlockMap committing() {
        return committing == null ? null : committing.content();
    }

    // ---- writing

    /** Where a block's memory comes from. */
    private interface Supply {
        /** Null if there is none. */
        @Nullable
        ByteBuffer take() throws InterruptedException;
    }

    /**
     * Writes the buffer's bytes; waits for memory in turn. If there is no more memory, or the thread is interrupted,
     * the bytes written until then stay.
     *
     * @return bytes written: 0 only if there were none to write
     * @throws IOException if there will be no memory for the first of them
     */
    public int write(long position, ByteBuffer from) throws IOException, InterruptedException {
        int start = from.position();
        boolean refused = false;
        try {
            refused = !write(position, from, () -> resources.memory().acquire(this));
        } catch (InterruptedException e) {
            if (from.position() == start) {
                throw e;
            }
        }
        if (refused && from.position() == start) {
            throw locked(owner::refusal);
        }
        return from.position() - start;
    }

    /** {@link #write} without waiting. False if there is no memory for all of it: some may be written then. */
    public boolean writeNow(long position, ByteBuffer from) throws InterruptedException {
        return write(position, from, resources.memory()::acquireNow);
    }

    private boolean write(long position, ByteBuffer from, Supply memory) throws InterruptedException {
        ByteBuffer spare = null;
        try {
            for (long at = position; from.hasRemaining(); ) {
                int length = Math.min(from.remaining(), (int) (BLOCK_SIZE - at % BLOCK_SIZE));
                if (!tryWrite(at, from.slice(from.position(), length), spare, false)) {
                    spare = memory.take();
                    if (spare == null) {
                        return false;
                    }
                    continue;
                }
                spare = null; // the block's now, or given back
                from.position(from.position() + length);
                at += length;
            }
            return true;
        } finally {
            if (spare != null) {
                resources.memory().release(spare);
            }
        }
    }

    /** Writes the base version's bytes of this range, all within one block, unless others were written there. */
    public void replaceBase(ByteRange range, ByteBuffer bytes) throws IOException, InterruptedException {
        ByteBuffer spare = null;
        while (!tryWrite(range.offset(), bytes, spare, true)) {
            spare = resources.memory().acquire(this);
            if (spare == null) {
                throw locked(owner::refusal);
            }
        }
    }

    /**
     * Writes within one block.
     *
     * @param overBase whether to write only if all of that is the base version's still
     * @return false if that needs memory and none was brought
     */
    private boolean tryWrite(long position, ByteBuffer from, @Nullable ByteBuffer spare, boolean overBase) {
        lock.lock();
        try {
            if (overBase && !isBase(position, position + from.remaining())) {
                if (spare != null) {
                    resources.memory().release(spare);
                }
                return true;
            }
            Block current = content.block(BlockMap.indexOf(position));
            boolean needsMemory = current == null || current.isHeld() || current.needsMemory();
            if (needsMemory && spare == null) {
                return false;
            }
            ByteRange range = new ByteRange(position, from.remaining());
            owner.changes(range);
            Block block = content.blockForWriting(position);
            if (spare != null) {
                if (block.needsMemory()) {
                    block.give(resources.reclaim().add(staging, block.index(), spare));
                } else {
                    resources.memory().release(spare); // another thread has brought some
                }
            }
            boolean wasWhole = block.isWhole();
            block.write(position, from);
            content.grow(range.end());
            if (block.isWhole() && (!wasWhole || range.end() == block.end())) {
                owner.whole(block);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private boolean isBase(long from, long to) {
        Segment there = content.at(from, to);
        return there.end() == to && there.source() == Segment.Source.BASE;
    }

    // ---- snapshots

    /** Holds a range as it is, or, while a commit runs, as that has it, over the data file that it is staged in from now on. */
    public Snapshot hold(ByteRange range) {
        return locked(() -> {
            startOver();
            return new Snapshot(this, uploaded().hold(range.offset(), range.end()), layer().use(), range);
        });
    }

    /** The content that is being committed, or else all there is. With the lock held. */
    @SuppressWarnings("GuardedBy") // the caller holds it
    private BlockMap uploaded() {
        return committing == null ? content : committing.content();
    }

    @Override
    public List<Run> runs(ByteRange within) {
        return locked(() -> uploaded().runs(within, layer().version()));
    }

    @Override
    public Snapshot body(ByteRange range) throws IOException, InterruptedException {
        Snapshot body = hold(range);
        try {
            return body.summed();
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            body.close();
            throw e;
        }
    }

    /** Releases the blocks and the layer of a snapshot. */
    public void release(Snapshot snapshot) {
        locked(() -> {
            snapshot.content().release();
            progress.signalAll();
        });
        snapshot.layer().release();
        resources.reclaim().wake();
    }

    /**
     * Something is about to be staged, or held while it may be: if the content has replaced all that the journal speaks of,
     * it goes to a data file of its own, so that a crash finds the one or the other. With the lock held.
     */
    @SuppressWarnings("GuardedBy") // the caller holds it
    public void startOver() {
        if (committing != null || !content.isReplaced() || !layer.staged().speaksOf(layer.data())) {
            return;
        }
        BaseLayer before = layer;
        layer = before.startOver();
        content.blocks().forEach(Block::standAlone);
        before.release(); // its files are not removed yet: closing them is quick
    }

    /** Holds everything, and has changes from now on go above it. With the lock held. */
    @SuppressWarnings("GuardedBy") // the caller holds it
    public Snapshot takeSnapshot() {
        startOver();
        content.commitBegins();
        committing = new Snapshot(
                this, content.hold(0, content.size()), layer.use(), new ByteRange(0, Math.max(1, content.size())));
        return committing;
    }

    /**
     * The snapshot is this version now, and no longer committed: it must not be staged where its successor is. With the
     * lock held.
     *
     * @param changed whether anything was changed since; else the version is all there is, whatever its size
     * @return the base layer before, to be released twice: it was the file's and the snapshot's
     */
    @SuppressWarnings("GuardedBy") // the caller holds it
    public BaseLayer rebase(ObjectVersion version, boolean changed) {
        Snapshot committed = committing;
        if (committed == null) {
            throw new IllegalStateException("nothing was to be committed");
        }
        BaseLayer old = layer;
        BlockMap above = content.over(version.size(), committed.content());
        if (changed) {
            content = above;
        } else {
            above.drop(); // blocks past the end that were being staged when they were cut off
            content = new BlockMap(version.size());
        }
        layer = resources.layer(version);
        BaseLayer _ = detachSnapshot();
        progress.signalAll();
        return old;
    }

    /**
     * The request that decides about the snapshot goes on by itself and holds the bytes that it reads, and the file goes on over
     * the same version, staged in the same data file. With the lock held.
     */
    @SuppressWarnings("GuardedBy") // the caller holds it
    public void leave() {
        left = committing == null ? Map.of() : committing.content().versions();
        BaseLayer under = detachSnapshot();
        if (under != null) {
            under.release(); // not the last: it is the file's too
        }
        progress.signalAll();
    }

    /** The snapshot that was {@linkplain #leave left} is this version now. With the lock held. */
    @SuppressWarnings("GuardedBy") // the caller holds it
    public void overLeft(ObjectVersion version) {
        content.over(version.size(), left == null ? Map.of() : left);
        left = null;
        layer.moved(version);
        progress.signalAll();
    }

    /** With the lock held. @return its base layer, to be released; null if there was no snapshot */
    @GuardedBy("lock")
    private @Nullable BaseLayer detachSnapshot() {
        Snapshot snapshot = committing;
        committing = null;
        if (snapshot == null) {
            return null;
        }
        snapshot.content().release();
        return snapshot.layer();
    }

    /** The commit has ended one way or the other. */
    public void releaseSnapshot() {
        List<Block> whole = new ArrayList<>();
        BaseLayer under;
        lock.lock();
        try {
            left = null;
            under = detachSnapshot();
            for (Block block : content.blocks()) {
                if (block.isWhole() && block.isUnstaged()) {
                    whole.add(block);
                }
            }
            progress.signalAll();
        } finally {
            lock.unlock();
        }
        if (under != null) {
            under.release();
        }
        whole.forEach(block -> resources.reclaim().stage(staging, block));
        resources.reclaim().wake();
    }

    @Override
    public boolean isStuck() {
        return locked(owner::isStuck);
    }
}
