package io.penstock.writeback;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static io.penstock.writeback.Writeback.BLOCK_SIZE;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a written file, wherever they are: in memory, staged, in the version below, or nowhere. Safe for use by
 * any number of threads.
 *
 * <p>A read finds each run of bytes under the lock and fetches without it what is not in memory. A commit may replace
 * what lies below meanwhile, and then the run is read again: the data file may be the cache's by then, which frees parts
 * of it as it likes.
 */
final class LiveContent {
    private static final byte[] ZEROS = new byte[64 << 10];

    private final Shared shared;
    private final Owner owner;
    private final BlockStaging staging;
    private final PageSums sums;

    /**
     * Guards all that follows, the blocks, and the owner's state. Held while bytes are copied to and from memory, never
     * for I/O or while waiting for anything but {@link #progress}.
     */
    private final ReentrantLock lock = new ReentrantLock();

    /** Something has ended: a commit, the staging of a block, a body of an upload. */
    private final Condition progress = lock.newCondition();

    private Content content;
    private Ground ground;

    /** What is being committed; nothing else may be staged meanwhile, because the data file is that version's. */
    private @Nullable StillContent frozen;

    /** Whom the bytes belong to. Called under the lock. */
    interface Owner {
        String key();

        /** The range is about to be changed. */
        void changes(ByteRange range);

        /** The block has become whole. */
        void whole(Block block);

        /** Commits the file to free its memory. False if there is nothing to commit. */
        boolean relieve();
    }

    LiveContent(Shared shared, Owner owner, Content content, Ground ground) {
        this.shared = shared;
        this.owner = owner;
        this.staging = new BlockStaging(this, shared);
        this.sums = new PageSums(this);
        this.content = content;
        this.ground = ground;
    }

    ReentrantLock lock() {
        return lock;
    }

    Condition progress() {
        return progress;
    }

    BlockStaging staging() {
        return staging;
    }

    PageSums sums() {
        return sums;
    }

    String key() {
        lock.lock();
        try {
            return owner.key();
        } finally {
            lock.unlock();
        }
    }

    /** With the lock held, as the next three. */
    Content content() {
        return content;
    }

    Ground ground() {
        return ground;
    }

    /** What is being committed; null if nothing is. */
    @Nullable
    Content frozen() {
        return frozen == null ? null : frozen.content();
    }

    // ---- reading

    /** @return bytes read until the buffer is full or the file ends */
    int read(long position, ByteBuffer to) throws ObjectStoreException, IOException, InterruptedException {
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
        lock.lock();
        try {
            return content.size();
        } finally {
            lock.unlock();
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

    /** Reads a run of bytes that are in one place. 0 if that was replaced meanwhile: to be tried again. */
    private int readRun(@Nullable StillContent still, long position, ByteBuffer to)
            throws ObjectStoreException, IOException, InterruptedException {
        Segment segment;
        int length;
        Ground under;
        lock.lock();
        try {
            while (still == null && ground.isRetired()) {
                progress.await(); // for the version that the data file is given to
            }
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
        boolean valid = false;
        try {
            fetch(segment.source(), under, position, to.slice(to.position(), length));
        } catch (ObjectStoreException.PreconditionFailed e) {
            if (still != null || !isReplacedHere(under)) {
                throw e;
            }
        } finally {
            lock.lock();
            try {
                valid = still != null || (under == ground && !under.isRetired());
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

    /** Whether the version below is no longer the object because a commit of this file has replaced it. */
    private boolean isReplacedHere(Ground under) throws InterruptedException {
        lock.lock();
        try {
            while (frozen != null && under == ground) {
                progress.await();
            }
            return under != ground;
        } finally {
            lock.unlock();
        }
    }

    private static void fetch(Segment.Source source, Ground under, long position, ByteBuffer to)
            throws ObjectStoreException, IOException, InterruptedException {
        int wanted = to.remaining();
        int read = switch (source) {
            case STAGED -> under.staged().read(position, to);
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

    // ---- writing

    /** Writes all that the buffer holds; waits for memory in turn. */
    void write(long position, ByteBuffer from) throws InterruptedException {
        ByteBuffer spare = null;
        try {
            for (long at = position; from.hasRemaining(); ) {
                int length = Math.min(from.remaining(), (int) (BLOCK_SIZE - at % BLOCK_SIZE));
                if (!tryWrite(at, from.slice(from.position(), length), spare)) {
                    spare = shared.memory().acquire();
                    continue;
                }
                spare = null; // the block's now, or given back
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
            owner.changes(range);
            Block block = content.blockForWriting(position);
            if (spare != null) {
                if (block.needsMemory()) {
                    block.give(new Piece(shared.reclaim(), this, block.index(), spare));
                } else {
                    shared.memory().release(spare); // somebody else brought some meanwhile
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

    // ---- holding still

    /** The pages that were written as a whole. */
    BitSet wholePages(StillContent still) {
        lock.lock();
        try {
            BitSet whole = new BitSet();
            long size = still.content().size();
            for (Block block : still.content().blocks()) {
                for (long start = block.start(); start < Math.min(block.end(), size); start += PAGE_SIZE) {
                    if (block.data().covers(start, Math.min(start + PAGE_SIZE, size))) {
                        whole.set(Math.toIntExact(start / PAGE_SIZE));
                    }
                }
            }
            return whole;
        } finally {
            lock.unlock();
        }
    }

    /** Holds a range as it is, or, while a commit runs, as that has it. */
    StillContent hold(ByteRange range) {
        lock.lock();
        try {
            Content from = frozen == null ? content : frozen.content();
            return new StillContent(this, from.hold(range.offset(), range.end()), ground.use(), range);
        } finally {
            lock.unlock();
        }
    }

    /** What the range is made of, as {@link #hold} has it. */
    List<Run> runs(ByteRange within) {
        lock.lock();
        try {
            return (frozen == null ? content : frozen.content()).runs(within, ground.version());
        } finally {
            lock.unlock();
        }
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
        shared.reclaim().wake();
    }

    /** The data file of what was frozen is about to be the cache's: nobody reads it here any more. */
    void retire(StillContent committed) {
        lock.lock();
        try {
            committed.ground().retire();
        } finally {
            lock.unlock();
        }
    }

    /** Holds everything, and has changes from now on go above it. With the lock held. */
    StillContent freeze() {
        content.commitBegins();
        frozen = new StillContent(
                this, content.hold(0, content.size()), ground.use(), new ByteRange(0, Math.max(1, content.size())));
        return frozen;
    }

    /** What was frozen is this version now. With the lock held. @return what lay below before, to be released */
    Ground rebase(ObjectVersion version) {
        StillContent committed = frozen;
        if (committed == null) {
            throw new IllegalStateException("nothing was to be committed");
        }
        Ground old = ground;
        content = content.over(version.size(), committed.content());
        ground = shared.ground(version);
        progress.signalAll();
        return old;
    }

    /** The commit has ended one way or the other. */
    void thaw() {
        List<Block> behind = new ArrayList<>();
        lock.lock();
        try {
            StillContent still = frozen;
            frozen = null;
            if (still != null) {
                still.content().letGo();
                still.ground().release();
            }
            for (Block block : content.blocks()) {
                if (block.isWhole() && block.isUnstaged()) {
                    behind.add(block);
                }
            }
            progress.signalAll();
        } finally {
            lock.unlock();
        }
        behind.forEach(block -> shared.reclaim().stage(this, block));
        shared.reclaim().wake();
    }

    boolean relieve() {
        lock.lock();
        try {
            return owner.relieve();
        } finally {
            lock.unlock();
        }
    }
}
