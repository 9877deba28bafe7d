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
import java.util.zip.CRC32C;
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
    private static final int ZERO_PAGE_CHECKSUM = checksumOf(ByteBuffer.allocate(PAGE_SIZE));

    private final Shared shared;
    private final Owner owner;

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
        this.content = content;
        this.ground = ground;
    }

    ReentrantLock lock() {
        return lock;
    }

    Condition progress() {
        return progress;
    }

    /** With the lock held, as the next. */
    Content content() {
        return content;
    }

    Ground ground() {
        return ground;
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

    // ---- staging

    /** Whether the block may go to the staging file. With the lock held. */
    private boolean mayBeStaged(Block block) {
        StillContent committing = frozen;
        return block.mayBeStaged()
                && (committing == null || committing.content().block(block.index()) == block);
    }

    /**
     * Writes to the staging file what of the block is in memory only.
     *
     * @return false if that cannot be now
     */
    boolean stage(Block block) throws IOException {
        Ground to;
        Piece source;
        long bytes;
        List<ByteRange> runs;
        lock.lock();
        try {
            while (block.isStaging()) {
                progress.awaitUninterruptibly();
            }
            if (!block.isUnstaged() || (block.isDropped() && !block.isHeld())) {
                return true;
            }
            if (!mayBeStaged(block) || !shared.staging().isUsable()) {
                return false;
            }
            to = ground.use();
            source = block.beginStaging();
            bytes = block.data().length();
            runs = block.staging().toList();
        } finally {
            lock.unlock();
        }
        boolean staged = false;
        try {
            staged = to.staged().take(block.index(), bytes) && write(block, source, runs, to.staged());
            return staged;
        } finally {
            lock.lock();
            try {
                block.endStaging(source, staged);
                to.release();
                progress.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    private boolean write(Block block, Piece source, List<ByteRange> runs, StagedFile to) throws IOException {
        for (int page = 0; page < BLOCK_SIZE / PAGE_SIZE; page++) {
            seal(block, page);
        }
        for (ByteRange run : runs) {
            int offset = Math.toIntExact(run.offset() - block.start());
            to.write(run.offset(), source.bytes().slice(offset, Math.toIntExact(run.length())));
        }
        return true;
    }

    /**
     * Stages all that is not.
     *
     * @param still what to stage; null for the file as it is
     * @return false if not all of it could be
     */
    boolean stageAll(@Nullable StillContent still) throws IOException {
        List<Block> blocks;
        lock.lock();
        try {
            blocks = List.copyOf((still == null ? content : still.content()).blocks());
        } finally {
            lock.unlock();
        }
        boolean all = true;
        for (Block block : blocks) {
            all &= stage(block);
        }
        return all;
    }

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

    /** Gives up a block's memory, after it was staged if need be and allowed. False if none was given up. */
    boolean giveUp(long index, boolean staging) {
        boolean some = false;
        for (Block block : blocksAt(index)) {
            try {
                if (staging && !stage(block)) {
                    continue;
                }
            } catch (IOException e) {
                continue; // the disk's state was logged when it changed
            }
            lock.lock();
            try {
                some |= block.evict();
            } finally {
                lock.unlock();
            }
        }
        return some;
    }

    private List<Block> blocksAt(long index) {
        lock.lock();
        try {
            List<Block> blocks = new ArrayList<>();
            Block live = content.block(index);
            if (live != null) {
                blocks.add(live);
            }
            Block held = frozen == null ? null : frozen.content().block(index);
            if (held != null && held != live) {
                blocks.add(held);
            }
            return blocks;
        } finally {
            lock.unlock();
        }
    }

    boolean relieve() {
        lock.lock();
        try {
            return owner.relieve();
        } finally {
            lock.unlock();
        }
    }

    // ---- checksums

    /** CRC32C of the page, or of as much of it as lies before the end of what is still. */
    int checksum(StillContent still, long start, int length)
            throws ObjectStoreException, IOException, InterruptedException {
        Block block;
        int page = (int) (start % BLOCK_SIZE / PAGE_SIZE);
        lock.lock();
        try {
            block = still.content().block(Content.indexOf(start));
            Segment segment = still.content().at(start, start + length);
            if (length == PAGE_SIZE && segment.source() == Segment.Source.HOLE && segment.end() == start + length) {
                return ZERO_PAGE_CHECKSUM;
            }
        } finally {
            lock.unlock();
        }
        if (block != null && length == PAGE_SIZE && seal(block, page)) {
            return block.checksum(page); // does not change any more: the block is held
        }
        ByteBuffer bytes = ByteBuffer.allocate(length);
        read(still, start, bytes);
        int checksum = checksumOf(bytes.flip());
        if (block != null && length == PAGE_SIZE) {
            lock.lock();
            try {
                if (block.data().covers(start, start + length)) {
                    block.seal(page, checksum);
                }
            } finally {
                lock.unlock();
            }
        }
        return checksum;
    }

    /** Computes the checksum of a page of the block from memory. False if not all of the page is there. */
    private boolean seal(Block block, int page) {
        long start = block.start() + (long) page * PAGE_SIZE;
        Piece source;
        int version;
        lock.lock();
        try {
            if (block.isSealed(page)) {
                return true;
            }
            Piece memory = block.piece();
            if (memory == null || !block.inMemory().covers(start, start + PAGE_SIZE)) {
                return false;
            }
            source = memory;
            source.pin();
            version = block.version();
        } finally {
            lock.unlock();
        }
        int checksum = checksumOf(source.bytes().slice(page * PAGE_SIZE, PAGE_SIZE));
        lock.lock();
        try {
            source.unpin();
            boolean current = version == block.version();
            if (current) {
                block.seal(page, checksum);
            }
            return current;
        } finally {
            lock.unlock();
        }
    }

    private static int checksumOf(ByteBuffer bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        return (int) checksum.getValue();
    }
}
