package io.penstock.writeback.content;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The content of a file: blocks over zeros over the base version. A byte is in a block's data, else in a hole made over
 * the base version, else in that version if before {@code baseEnd}, else zero. A change of one of these must also
 * change the others. Guarded by the file's lock.
 */
public final class BlockMap {
    private final NavigableMap<Long, Block> blocks;

    /** The ranges of the version below that were set to zeros. The data of blocks takes precedence. */
    private final Ranges zeros;

    /** End of the used part of the version below: its size, or less since the file was cut. At most the file's size. */
    private long baseEnd;

    private long size;

    /** The smallest size since it was {@linkplain #noteSize noted}. */
    private long leastSize;

    private RemovedRanges sinceCommit = new RemovedRanges();
    private RemovedRanges sinceJournal = new RemovedRanges();

    private int shape;

    public BlockMap(long baseSize) {
        this(new TreeMap<>(), new Ranges(), baseSize, baseSize);
    }

    private BlockMap(NavigableMap<Long, Block> blocks, Ranges zeros, long baseEnd, long size) {
        this.blocks = blocks;
        this.zeros = zeros;
        this.baseEnd = baseEnd;
        this.size = size;
        this.leastSize = size;
    }

    /** The current content of the range. Its blocks are held until {@link #release}. */
    public BlockMap hold(long from, long to) {
        NavigableMap<Long, Block> held =
                from >= to ? new TreeMap<>() : new TreeMap<>(blocks.subMap(indexOf(from), true, indexOf(to - 1), true));
        held.values().forEach(Block::hold);
        return new BlockMap(held, zeros.copy(), baseEnd, size);
    }

    public void release() {
        blocks.values().forEach(Block::release);
        blocks.clear();
    }

    public long size() {
        return size;
    }

    public long baseEnd() {
        return baseEnd;
    }

    public Ranges zeros() {
        return zeros;
    }

    /** Changes with each change other than writes and extensions. */
    public int shape() {
        return shape;
    }

    public RecordedContent recorded() {
        return new RecordedContent(size, baseEnd, zeros, List.copyOf(blocks.values()));
    }

    /** The same as after {@link #over(long, BlockMap)}, where no range in the staging file counts. */
    public RecordedContent recordedOver(long baseSize, BlockMap committed) {
        List<Block> changed = blocks.values().stream()
                .filter(block -> committed.block(block.index()) != block)
                .toList();
        long counts = countsOf(baseSize);
        return new RecordedContent(size, counts, sinceCommit.zeroedUpTo(counts), changed);
    }

    /** How many bytes of the version made of the content held since {@link #commitBegins} still count. */
    private long countsOf(long baseSize) {
        return Math.min(baseSize, Math.min(sinceCommit.cut, size));
    }

    public Collection<Block> blocks() {
        return blocks.values();
    }

    @Nullable
    public Block block(long index) {
        return blocks.get(index);
    }

    public static long indexOf(long position) {
        return Math.floorDiv(position, (long) BLOCK_SIZE);
    }

    // ---- changing

    /** The block to change at the position: a new one if there is none, a copy if it is held. */
    public Block blockForWriting(long position) {
        return blocks.compute(indexOf(position), (index, block) -> {
            if (block == null) {
                return new Block(index);
            }
            return block.isHeld() ? block.fork() : block;
        });
    }

    public void noteSize() {
        leastSize = size;
    }

    public long leastSize() {
        return leastSize;
    }

    public void grow(long end) {
        size = Math.max(size, end);
    }

    public void resize(long changed) {
        if (changed < size) {
            shape++;
            forget(changed, size);
            zeros.remove(changed, size);
            baseEnd = Math.min(baseEnd, changed);
            sinceCommit.cut = Math.min(sinceCommit.cut, changed);
            sinceJournal.cut = Math.min(sinceJournal.cut, changed);
        }
        size = changed;
        leastSize = Math.min(leastSize, size);
    }

    /** Sets the range, within the size, to zeros. */
    public void zero(long from, long to) {
        shape++;
        forget(from, to);
        zeros.add(from, Math.min(to, baseEnd));
        sinceCommit.zeroed.add(from, to);
        sinceJournal.zeroed.add(from, to);
    }

    /** Whether the file has this size and is entirely the base version's. */
    public boolean isAllBase(long end) {
        return size == end && baseEnd == end && blocks.isEmpty() && zeros.isEmpty();
    }

    /** Uses the base version up to this end. Until now the file was empty or {@linkplain #isAllBase all base}. */
    public void extendBase(long end) {
        shape++;
        baseEnd = end;
        size = end;
    }

    /** No longer uses the base version, because blocks have all of its bytes. */
    public void forgetBase() {
        shape++;
        baseEnd = 0;
        zeros.remove(0, Long.MAX_VALUE);
    }

    private void forget(long from, long to) {
        for (Block block : List.copyOf(blocksIn(from, to))) {
            boolean whole = from <= block.start() && Math.min(block.end(), size) <= to;
            // Else its successor would not wait for writes and reads in its place.
            if (whole && block.mayBeStaged() && !block.isHeld()) {
                blocks.remove(block.index());
                block.drop();
            } else {
                Block rest = blockForWriting(block.start());
                rest.forget(Math.max(from, block.start()), Math.min(to, block.end()));
                if (whole) {
                    rest.evict();
                }
            }
        }
    }

    // ---- reading

    /** Where the byte at the position is, and those after it in the same place, up to the limit. */
    public Segment at(long position, long limit) {
        Block block = blocks.get(indexOf(position));
        if (block == null) {
            Long next = blocks.higherKey(indexOf(position));
            return below(position, next == null ? limit : Math.min(limit, next * BLOCK_SIZE));
        }
        long end = Math.min(limit, block.end());
        long inMemory = block.inMemory().nextIn(position);
        if (inMemory == position) {
            return new Segment(
                    Segment.Source.MEMORY, Math.min(end, block.inMemory().nextOut(position)), block);
        }
        long data = block.data().nextIn(position);
        if (data == position) {
            long staged = Math.min(block.data().nextOut(position), inMemory);
            return new Segment(Segment.Source.STAGED, Math.min(end, staged), block);
        }
        return below(position, Math.min(end, data));
    }

    private Segment below(long position, long limit) {
        if (position >= baseEnd) {
            return new Segment(Segment.Source.HOLE, limit, null);
        }
        long zero = zeros.nextIn(position);
        if (zero == position) {
            return new Segment(Segment.Source.HOLE, Math.min(limit, zeros.nextOut(position)), null);
        }
        return new Segment(Segment.Source.BASE, Math.min(Math.min(limit, zero), baseEnd), null);
    }

    /** The first byte at or after the offset that is data or, for a hole, lies in one; -1 if there is none. */
    public long seek(long offset, boolean hole) {
        for (long position = offset; position < size; ) {
            Segment segment = at(position, size);
            if (hole == (segment.source() == Segment.Source.HOLE)) {
                return position;
            }
            position = segment.end();
        }
        return hole && offset < size ? size : -1;
    }

    /** The runs of the range, in whole blocks except at the file's end. Unchanged runs are in the version below. */
    public List<Run> runs(ByteRange within, @Nullable ObjectVersion base) {
        long end = Math.min(size, within.end());
        Ranges changed = changed(within.offset(), end);
        List<Run> runs = new ArrayList<>();
        for (long from = within.offset();
                from < end;
                from = runs.getLast().range().end()) {
            boolean sent = base == null || changed.nextIn(from) == from;
            long to = sent ? changed.nextOut(from) : changed.nextIn(from);
            ByteRange range = new ByteRange(from, Math.min(end, to) - from);
            runs.add(sent ? Run.sent(range) : new Run(range, base));
        }
        return runs;
    }

    private Collection<Block> blocksIn(long from, long to) {
        return blocks.subMap(indexOf(from), true, indexOf(to - 1), true).values();
    }

    private Ranges changed(long from, long to) {
        Ranges changed = new Ranges();
        if (from < to) {
            for (Block block : blocksIn(from, to)) {
                changed.add(block.start(), block.end());
            }
        }
        for (ByteRange zero : zeros.toList()) {
            changed.add(indexOf(zero.offset()) * BLOCK_SIZE, (indexOf(zero.end() - 1) + 1) * BLOCK_SIZE);
        }
        if (baseEnd < size) {
            changed.add(indexOf(baseEnd) * BLOCK_SIZE, size);
        }
        return changed;
    }

    // ---- from one version below to the next

    /** A commit of the current content begins. */
    public void commitBegins() {
        sinceCommit = new RemovedRanges();
    }

    /** Whether all content from before the last journal record is gone, and no current content is staged. */
    public boolean isReplaced() {
        return sinceJournal.cut == 0
                && blocks.values().stream().allMatch(block -> block.stored().isEmpty());
    }

    public RemovedRanges takeSinceJournal() {
        RemovedRanges taken = sinceJournal;
        sinceJournal = new RemovedRanges();
        return taken;
    }

    /** The removals must be journalled after all. */
    public void putBack(RemovedRanges taken) {
        sinceJournal.zeroed.addAll(taken.zeroed);
        sinceJournal.cut = Math.min(sinceJournal.cut, taken.cut);
    }

    /** Continues over the version made of the content held since {@link #commitBegins}. */
    public BlockMap over(long baseSize, BlockMap committed) {
        NavigableMap<Long, Block> changed = new TreeMap<>();
        for (Block block : blocks.values()) {
            if (committed.block(block.index()) == block) {
                block.drop();
            } else {
                block.rebase();
                changed.put(block.index(), block);
            }
        }
        long counts = countsOf(baseSize);
        Ranges above = sinceCommit.zeroedUpTo(counts);
        BlockMap next = new BlockMap(changed, above, counts, size);
        next.sinceJournal.zeroed.addAll(above); // the next journal lacks the ranges set to zeros since
        return next;
    }

    /** The current version of each block. */
    public Map<Block, Integer> versions() {
        Map<Block, Integer> versions = new HashMap<>();
        blocks.values().forEach(block -> versions.put(block, block.version()));
        return versions;
    }

    /**
     * Continues over the version made of the content held since {@link #commitBegins}, in the same staging file and its
     * journal. So a block leaves only if the journal has all of it.
     *
     * @param committed the blocks as they were then
     */
    public void over(long baseSize, Map<Block, Integer> committed) {
        for (Block block : List.copyOf(blocks.values())) {
            Integer then = committed.get(block);
            if (then != null && then == block.version() && !block.isUnstaged() && block.isJournalled()) {
                blocks.remove(block.index());
                block.drop();
            }
        }
        shape++;
        baseEnd = countsOf(baseSize);
        zeros.remove(0, Long.MAX_VALUE);
        zeros.addAll(sinceCommit.zeroedUpTo(baseEnd));
        Ranges holes = zeros.copy(); // the journal may lack those past the end of the previous version
        blocks.values()
                .forEach(block -> block.data().toList().forEach(data -> holes.remove(data.offset(), data.end())));
        sinceJournal.zeroed.addAll(holes);
    }

    /** Content from an earlier run, all of it staged. */
    public static BlockMap found(long baseEnd, long size, Ranges zeros, Ranges data) {
        BlockMap content = new BlockMap(new TreeMap<>(), zeros.copy(), baseEnd, size);
        for (ByteRange range : data.toList()) {
            for (long from = range.offset(); from < range.end(); ) {
                Block block = content.blockForWriting(from);
                long to = Math.min(range.end(), block.end());
                block.found(from, to);
                from = to;
            }
        }
        return content;
    }

    /** The journal, if there is one, may be older: the next record must have all of the content. */
    public void journalAnew() {
        sinceJournal.cut = 0;
        sinceJournal.zeroed.addAll(zeros);
        blocks.values().forEach(block -> block.setJournalled(false));
    }

    /** @throws IllegalStateException if no order of calls may lead to this */
    public void checkInvariants() {
        check(baseEnd <= size, "the base version ends within the file");
        check(leastSize <= size, "the least size is none of the future");
        check(zeros.end() <= baseEnd, "holes are made over the base version");
        blocks.forEach((index, block) -> {
            check(index == block.index(), "a block is at its index");
            check(block.data().end() <= size, "data ends within the file");
            block.checkInvariants();
        });
    }

    private void check(boolean holds, String invariant) {
        if (!holds) {
            throw new IllegalStateException(invariant + ": size " + size + ", base end " + baseEnd + ", least size "
                    + leastSize + ", zeros " + zeros + ", " + blocks.values());
        }
    }

    /** Frees everything. */
    public void drop() {
        blocks.values().forEach(Block::drop);
        blocks.clear();
    }
}
