package io.penstock.writeback.bytes;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockBuffer;
import io.penstock.writeback.content.BlockMap;
import io.penstock.writeback.content.BlockSource;
import io.penstock.writeback.content.Run;
import io.penstock.writeback.content.Segment;
import io.penstock.writeback.survivors.FileRecord;
import io.penstock.writeback.survivors.Survivor;
import io.penstock.writeback.upload.FileContent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a written file, wherever they are: in memory, staged, in the version below, in objects to be copied, or
 * nowhere. Safe for use by any number of threads.
 *
 * <p>Everything that replaces content, layer and snapshot together is here. Their readers are separate:
 * {@link ContentReads}, {@link BlockStaging}, {@link PageChecksums}, {@link Snapshot}.
 */
public final class FileBytes implements FileContent {
    private final FileResources resources;
    private final ContentReads reads;
    private final BlockStaging staging;
    private final PageChecksums sums;

    /**
     * Guards the fields below, the blocks, and the file's state: one lock for all of a file. Callers of many methods
     * hold it, which tests check by assertions. Held while bytes are copied to and from memory, never during I/O or
     * waits other than for {@link #progress}.
     */
    private final ReentrantLock lock = new ReentrantLock() {
        private static final long serialVersionUID = 1L;

        @Override
        public void unlock() {
            List<BlockBuffer> free = List.of();
            try {
                if (getHoldCount() == 1) {
                    free = recorded.update();
                }
            } finally {
                super.unlock();
            }
            free.forEach(resources.reclaim()::freed);
        }
    };

    /** Signals the end of a commit, of the staging of a block, or of an upload's body. */
    private final Condition progress = lock.newCondition();

    private final RecordedBytes recorded;

    private BlockMap content;

    private BaseLayer layer;

    /**
     * The content being committed. Until that ends, nothing else may be staged, because the data file belongs to that
     * version.
     */
    private @Nullable Snapshot committing;

    /** The versions of blocks when their commit was {@linkplain #leave left}; null if no such commit is undecided. */
    private @Nullable Map<Block, Integer> left;

    /** The result of writing within one block. */
    public enum Written {
        /** Nothing was written: the block needs memory. */
        NEEDS_MEMORY,
        /** Nothing was written: the range no longer belongs to the base version. */
        NOTHING,
        /** The range has changed. */
        CHANGED,
        /** The range has changed, and the block has become whole. */
        WHOLE
    }

    /**
     * @param commit begins a commit that frees memory; called without the lock. False if there is nothing to commit
     * @param record of the file
     */
    public FileBytes(
            FileResources resources, BooleanSupplier commit, BlockMap content, BaseLayer layer, FileRecord record) {
        this.resources = resources;
        this.recorded = new RecordedBytes(record);
        this.reads = new ContentReads(this);
        this.staging = new BlockStaging(this, resources, commit);
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

    /** The result of reading while holding the lock. */
    public <T extends @Nullable Object> T locked(Supplier<T> read) {
        lock.lock();
        try {
            return read.get();
        } finally {
            lock.unlock();
        }
    }

    /** Runs it while holding the lock. */
    public void locked(Runnable change) {
        lock.lock();
        try {
            change.run();
        } finally {
            lock.unlock();
        }
    }

    /** Caller holds the lock, also for the next three methods. */
    public BlockMap content() {
        assert lock.isHeldByCurrentThread();
        return content;
    }

    public BaseLayer layer() {
        assert lock.isHeldByCurrentThread();
        return layer;
    }

    /** Whether a commit may have replaced the version below. Caller holds the lock. */
    boolean isBeingReplaced() {
        assert lock.isHeldByCurrentThread();
        return committing != null || left != null;
    }

    /** The content being committed; null if there is none. */
    @Nullable
    public BlockMap committing() {
        assert lock.isHeldByCurrentThread();
        return committing == null ? null : committing.content();
    }

    // ---- for the mount's next process

    /** Caller holds the lock. */
    public RecordedBytes recorded() {
        assert lock.isHeldByCurrentThread();
        return recorded;
    }

    /** The running commit has made this version of its whole content, and its data file is about to be given away. */
    public void made(ObjectVersion version) {
        locked(() -> recorded.made(version));
    }

    /** Takes the memory of blocks that the former process left. Called before other threads have the file. */
    public void takeOver(Survivor left, IntFunction<ByteBuffer> memory) {
        locked(() -> {
            left.parts().forEach((index, part) -> {
                if (part.memory() != BlockSource.UNNUMBERED) {
                    ByteBuffer bytes = memory.apply(part.memory());
                    content.blockForWriting(index * Block.BLOCK_SIZE)
                            .takeOver(resources.reclaim().takeOver(staging, index, bytes), part.inMemory());
                }
            });
            content.journalAnew();
        });
    }

    // ---- writing

    /**
     * Writes within one block. Caller holds the lock, and passes on what has changed.
     *
     * @param spare memory for the block, which owns it afterwards or has given it back; null if there is none yet
     * @param overBase whether to write only if the whole range still belongs to the base version
     */
    public Written tryWrite(long position, ByteBuffer from, @Nullable ByteBuffer spare, boolean overBase) {
        assert lock.isHeldByCurrentThread();
        long end = position + from.remaining();
        if (overBase && !isBase(position, end)) {
            if (spare != null) {
                resources.memory().release(spare);
            }
            return Written.NOTHING;
        }
        Block current = content.block(BlockMap.indexOf(position));
        boolean needsMemory = current == null || current.isHeld() || current.needsMemory();
        if (needsMemory && spare == null) {
            return Written.NEEDS_MEMORY;
        }
        Block block = content.blockForWriting(position);
        if (spare != null) {
            if (block.needsMemory()) {
                block.give(resources.reclaim().add(staging, block.index(), spare));
            } else {
                resources.memory().release(spare); // another thread has added memory
            }
        }
        boolean wasWhole = block.isWhole();
        block.write(position, from);
        content.grow(end);
        return !block.isWhole() || (wasWhole && end != block.end()) ? Written.CHANGED : Written.WHOLE;
    }

    /** Begins to stage a block that has become whole. Caller holds the lock. */
    public void stage(long index) {
        assert lock.isHeldByCurrentThread();
        Block block = content.block(index);
        if (block != null && committing == null) {
            resources.reclaim().stage(staging, block);
        }
    }

    private boolean isBase(long from, long to) {
        Segment there = content.at(from, to);
        return there.end() == to && there.source() == Segment.Source.BASE;
    }

    // ---- snapshots

    /** Holds the range of the content, or of a running commit's, over the data file that stages it from now on. */
    public Snapshot hold(ByteRange range) {
        return locked(() -> {
            startOver();
            return new Snapshot(this, uploaded().hold(range.offset(), range.end()), layer().use(), range);
        });
    }

    /** The content being committed, or else the current content. Caller holds the lock. */
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
     * Called before staging or holding. If the content has replaced everything that the journal refers to, gives it
     * another data file, so that one or the other is found after a crash. Caller holds the lock.
     */
    public void startOver() {
        assert lock.isHeldByCurrentThread();
        if (committing != null || !content.isReplaced() || !layer.staged().speaksOf(layer.data())) {
            return;
        }
        BaseLayer before = layer;
        layer = before.startOver();
        content.blocks().forEach(Block::standAlone);
        before.release(); // its files are not removed yet, so closing them is quick
    }

    /** Holds everything: later changes go above it. Caller holds the lock. */
    public Snapshot takeSnapshot() {
        assert lock.isHeldByCurrentThread();
        startOver();
        content.commitBegins();
        committing = new Snapshot(
                this, content.hold(0, content.size()), layer.use(), new ByteRange(0, Math.max(1, content.size())));
        return committing;
    }

    /**
     * The snapshot is now this version and no longer being committed: it must not be staged in its successor's place.
     * Caller holds the lock.
     *
     * @param changed whether anything has changed since; if not, the version is the whole content, whatever its size
     * @return the previous base layer, to be released twice: for the file and for the snapshot
     */
    public BaseLayer rebase(ObjectVersion version, boolean changed) {
        assert lock.isHeldByCurrentThread();
        Snapshot committed = committing;
        if (committed == null) {
            throw new IllegalStateException("there is nothing to commit");
        }
        BaseLayer old = layer;
        recorded.replaced(old);
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
     * The deciding request continues on its own and holds the bytes that it reads. The file continues over the same
     * version, staged in the same data file. Caller holds the lock.
     */
    public void leave() {
        assert lock.isHeldByCurrentThread();
        left = committing == null ? Map.of() : committing.content().versions();
        BaseLayer under = detachSnapshot();
        if (under != null) {
            under.release(); // not the last use: the file has one too
        }
        progress.signalAll();
    }

    /** The snapshot that was {@linkplain #leave left} is now this version. Caller holds the lock. */
    public void overLeft(ObjectVersion version) {
        assert lock.isHeldByCurrentThread();
        content.over(version.size(), left == null ? Map.of() : left);
        left = null;
        layer.moved(version);
        progress.signalAll();
    }

    /** Caller holds the lock. @return the snapshot's base layer, to be released; null if there was no snapshot */
    private @Nullable BaseLayer detachSnapshot() {
        Snapshot snapshot = committing;
        committing = null;
        if (snapshot == null) {
            return null;
        }
        snapshot.content().release();
        return snapshot.layer();
    }

    /** Releases the snapshot after its commit has ended, successfully or not. */
    public void releaseSnapshot() {
        List<Block> whole = new ArrayList<>();
        BaseLayer under;
        lock.lock();
        try {
            left = null;
            recorded.released();
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
}
