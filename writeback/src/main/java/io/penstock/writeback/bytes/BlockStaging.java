package io.penstock.writeback.bytes;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static io.penstock.writeback.content.Block.BLOCK_SIZE;

import io.penstock.core.ByteRange;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockBuffer;
import io.penstock.writeback.content.BlockMap;
import io.penstock.writeback.staging.StagedData;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Copies blocks of one file from memory to its staging file and evicts them. Safe for use by any number of threads. */
public final class BlockStaging implements Reclaim.Source {
    private static final Logger log = LoggerFactory.getLogger(BlockStaging.class);

    private final FileBytes live;
    private final FileResources resources;
    private final BooleanSupplier commit;

    BlockStaging(FileBytes live, FileResources resources, BooleanSupplier commit) {
        this.live = live;
        this.resources = resources;
        this.commit = commit;
    }

    /**
     * While a commit runs, only blocks of its snapshot may be staged: the data file belongs to that version. Caller
     * holds the lock.
     */
    private boolean mayBeStaged(Block block) {
        BlockMap committing = live.committing();
        return committing == null ? block.takesPlace() : has(committing, block) && block.mayBeStaged();
    }

    /** A block that left the file need not be on disk: its successor owns its place there. Caller holds the lock. */
    private boolean isPartOfTheFile(Block block) {
        BlockMap committing = live.committing();
        return has(live.content(), block) || (committing != null && has(committing, block));
    }

    private static boolean has(BlockMap content, Block block) {
        return block.equals(content.block(block.index()));
    }

    @Override
    public boolean stage(Block block) throws IOException {
        BaseLayer to;
        BlockBuffer source;
        long bytes;
        List<ByteRange> runs;
        live.lock().lock();
        try {
            while (block.isPlaceWritten()) {
                live.progress().awaitUninterruptibly();
            }
            if (!block.isUnstaged() || !isPartOfTheFile(block)) {
                return true;
            }
            if (!mayBeStaged(block) || !resources.staging().isUsable()) {
                return false;
            }
            live.startOver();
            to = live.layer().use();
            source = block.beginStaging();
            bytes = block.data().length();
            runs = block.staging().toList();
        } finally {
            live.lock().unlock();
        }
        boolean staged = false;
        try {
            staged = to.data().take(block.index(), bytes) && write(block, source, runs, to.data());
            return staged;
        } finally {
            live.lock().lock();
            try {
                block.endStaging(source, staged);
                live.recorded().moved(block, live.content(), live.committing());
                live.progress().signalAll();
            } finally {
                live.lock().unlock();
            }
            to.release();
        }
    }

    private boolean write(Block block, BlockBuffer source, List<ByteRange> runs, StagedData to) throws IOException {
        for (int page = 0; page < BLOCK_SIZE / PAGE_SIZE; page++) {
            live.sums().compute(block, page);
        }
        for (ByteRange run : runs) {
            int offset = Math.toIntExact(run.offset() - block.start());
            if (!to.write(run.offset(), source.bytes().slice(offset, Math.toIntExact(run.length())))) {
                return false;
            }
        }
        return true;
    }

    /**
     * Stages everything not staged yet, several blocks at a time.
     *
     * @param snapshot to stage; null for the current file
     * @return false if some of it could not be staged
     */
    public boolean stageAll(@Nullable Snapshot snapshot) throws IOException, InterruptedException {
        List<Block> blocks = live.locked(() -> {
            BlockMap of = snapshot == null ? live.content() : snapshot.content();
            return of.blocks().stream().filter(Block::isUnstaged).toList();
        });
        boolean all = true;
        if (blocks.size() < 2) {
            for (Block block : blocks) {
                all &= stage(block, snapshot);
            }
            return all;
        }
        List<Future<Boolean>> staged = new ArrayList<>();
        for (Block block : blocks) {
            staged.add(resources.reclaim().staged(() -> stage(block, snapshot)));
        }
        for (Future<Boolean> one : staged) {
            try {
                all &= one.get();
            } catch (ExecutionException e) {
                throw e.getCause() instanceof IOException failure ? failure : new IOException(e.getCause());
            }
        }
        return all;
    }

    /**
     * Stages the block and, without a snapshot, also a copy that has replaced it meanwhile: the copy has these bytes
     * now.
     */
    private boolean stage(Block block, @Nullable Snapshot snapshot) throws IOException {
        Block next = block;
        while (next != null) {
            if (!stage(next)) {
                return false;
            }
            next = snapshot == null ? successor(next) : null;
        }
        return true;
    }

    private @Nullable Block successor(Block block) {
        return live.<@Nullable Block>locked(() -> {
            Block current = live.content().block(block.index());
            return block.equals(current) ? null : current;
        });
    }

    @Override
    public Reclaim.Eviction evict(long index, boolean afterStaging) {
        Reclaim.Eviction best = Reclaim.Eviction.STUCK;
        for (Block block : blocksAt(index)) {
            try {
                boolean mayBeFreed = afterStaging && stage(block);
                Reclaim.Eviction eviction = live.locked(() -> evict(block, mayBeFreed));
                best = eviction.compareTo(best) < 0 ? eviction : best;
            } catch (IOException e) {
                log.debug("A block stays in memory", e); // a change of the disk's state was logged
            }
        }
        return best;
    }

    /**
     * The snapshot's bytes have been sent. If much memory is taken, its staged blocks give up their memory to the
     * following ones: fresh memory costs the kernel more time than all other work on a block. Otherwise they keep it,
     * as they may be written again.
     */
    void sent(Snapshot snapshot) {
        if (resources.memory().isMuchUsed()) {
            live.locked(() -> snapshot.content().blocks().forEach(this::evict));
        }
    }

    /**
     * The file is staged as closed, and will be sent later. If much memory is taken, blocks less than half full give
     * theirs up: a small file takes as much as a large file's block, and is quickly read again. Caller holds the lock.
     */
    public void closed() {
        if (resources.memory().isMuchUsed()) {
            live.content().blocks().stream()
                    .filter(block -> block.data().length() < BLOCK_SIZE / 2)
                    .forEach(this::evict);
        }
    }

    private Reclaim.Eviction evict(Block block, boolean mayBeFreed) {
        if (evict(block)) {
            return Reclaim.Eviction.FREED;
        }
        boolean isBusy = mayBeFreed && block.buffer() != null && !isSuspect();
        return isBusy ? Reclaim.Eviction.BUSY : Reclaim.Eviction.STUCK;
    }

    /** Not if the staging file may lack bytes written to it. Caller holds the lock. */
    private boolean evict(Block block) {
        boolean evicted = !isSuspect() && block.evict();
        if (evicted) {
            live.recorded().moved(block, live.content(), live.committing());
        }
        return evicted;
    }

    private boolean isSuspect() {
        return live.layer().staged().isSuspect();
    }

    @Override
    public void unused(BlockBuffer memory) {
        live.recorded().unused(memory);
    }

    /** Its memory becomes free once a body has been read. */
    @Override
    public boolean isLeaving(long index, BlockBuffer buffer) {
        return live.locked(() -> blocksAt(index).stream().noneMatch(block -> buffer.equals(block.buffer())));
    }

    private List<Block> blocksAt(long index) {
        return live.locked(() -> {
            List<Block> blocks = new ArrayList<>();
            Block current = live.content().block(index);
            if (current != null) {
                blocks.add(current);
            }
            BlockMap committing = live.committing();
            Block held = committing == null ? null : committing.block(index);
            if (held != null && held != current) {
                blocks.add(held);
            }
            return blocks;
        });
    }

    @Override
    public boolean commitToFreeMemory() {
        return commit.getAsBoolean();
    }

    @Override
    public boolean commitToFreeStaging() {
        return !resources.staging().isBroken()
                && live.locked(() -> live.layer().data().isThere())
                && commit.getAsBoolean();
    }
}
