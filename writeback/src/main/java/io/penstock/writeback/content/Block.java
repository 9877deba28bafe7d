package io.penstock.writeback.content;

import io.penstock.cache.PageCache;
import io.penstock.core.ByteRange;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The written bytes of one block of a file. They are in memory, in the staging file, or in both; where both have a
 * byte, the one in memory is current. A change of one of its ranges must also change the others. Entirely guarded by
 * the file's lock.
 *
 * <pre>
 *   written ──▶ unstaged, in memory ──staging──▶ staged, in memory ──evicted──▶ staged
 *                        ▲───────────────written again──────┴───────────────────────┘
 * </pre>
 *
 * <p>A {@linkplain #hold held} block does not change: writes go to a {@linkplain #fork copy}, which replaces it in the
 * file. The copy has the same place on disk, and so is not staged before the holders have finished.
 */
public final class Block {
    /** Bytes of a logical block, the unit of staging and of parts. */
    public static final int BLOCK_SIZE = 4 << 20;

    /** Where the block is visible. */
    private enum Place {
        /** It is the file's current block. */
        IN_FILE,
        /** It no longer belongs to the file, and only its holders use it. */
        LEFT,
        /** It has left the file, and its successor owns its place in the staging file: holders read it from memory. */
        DISPLACED
    }

    private final long index;

    /** The ranges that differ from the version below. */
    private final Ranges data;

    /** The ranges in memory. All others are staged. */
    private Ranges inMemory;

    /** The ranges only in memory, or newer there, except those being {@link #staging staged}. */
    private Ranges unstaged;

    /** The ranges being copied from memory to the staging file. */
    private @Nullable Ranges staging;

    /** The ranges of which the staging file has some version. */
    private final Ranges stored;

    private @Nullable BlockBuffer buffer;

    /** CRC32C of the pages whose bit is set in {@link #checksummed}. */
    private final int[] checksums = new int[BLOCK_SIZE / PageCache.PAGE_SIZE];

    private int checksummed;

    private int holders;

    /** The block from which this was copied, while it is held. */
    private @Nullable Block original;

    private Place place = Place.IN_FILE;

    /** Changes with each write, to detect work on an older version. */
    private int version;

    /** Whether the journal has all {@link #stored} ranges. Removed ranges are journalled separately. */
    private boolean journalled;

    public Block(long index) {
        this(index, new Ranges(), new Ranges(), new Ranges(), new Ranges());
    }

    private Block(long index, Ranges data, Ranges inMemory, Ranges unstaged, Ranges stored) {
        this.index = index;
        this.data = data;
        this.inMemory = inMemory;
        this.unstaged = unstaged;
        this.stored = stored;
    }

    public long index() {
        return index;
    }

    /** Offset of its first byte in the file. */
    public long start() {
        return index * BLOCK_SIZE;
    }

    public long end() {
        return start() + BLOCK_SIZE;
    }

    public Ranges data() {
        return data;
    }

    public Ranges inMemory() {
        return inMemory;
    }

    public boolean isWhole() {
        return data.covers(start(), end());
    }

    public int version() {
        return version;
    }

    // ---- changing

    /** Whether {@link #write} needs memory first. */
    public boolean needsMemory() {
        return buffer == null || buffer.isShared();
    }

    /** Takes memory to write to. */
    public void give(BlockBuffer fresh) {
        BlockBuffer shared = buffer;
        if (shared != null) {
            fresh.bytes().put(0, shared.bytes(), 0, BLOCK_SIZE);
            shared.unshare();
        }
        buffer = fresh;
    }

    public void write(long position, ByteBuffer from) {
        BlockBuffer target = buffer;
        if (target == null || target.isShared() || holders > 0) {
            throw new IllegalStateException("block " + index + " has no memory of its own");
        }
        int length = from.remaining();
        target.bytes().put(offset(position), from, from.position(), length);
        from.position(from.limit());
        data.add(position, position + length);
        inMemory.add(position, position + length);
        unstaged.add(position, position + length);
        changed(position, position + length);
    }

    /** Removes the range from the block's data. */
    public void forget(long from, long to) {
        data.remove(from, to);
        inMemory.remove(from, to);
        unstaged.remove(from, to);
        if (staging != null) {
            staging.remove(from, to); // it is still written to disk, but does not count
        }
        stored.remove(from, to);
        changed(from, to);
    }

    private void changed(long from, long to) {
        version++;
        int first = offset(Math.max(from, start())) / PageCache.PAGE_SIZE;
        int last = offset(Math.min(to, end()) - 1) / PageCache.PAGE_SIZE;
        for (int page = first; page <= last; page++) {
            checksummed &= ~(1 << page);
        }
    }

    /** Copies bytes from memory. */
    public void read(long position, ByteBuffer to, int length) {
        if (buffer == null || !inMemory.covers(position, position + length)) {
            throw new IllegalStateException("block " + index + " does not have these bytes in memory");
        }
        to.put(to.position(), buffer.bytes(), offset(position), length);
        to.position(to.position() + length);
    }

    private int offset(long position) {
        return Math.toIntExact(position - start());
    }

    /** The block has left the file. Its memory is freed with its last holder. */
    public void drop() {
        if (place == Place.IN_FILE) {
            place = Place.LEFT;
        }
        freeIfUnused();
    }

    /** The version below was replaced, and contains all bytes except those written to memory since. */
    public void rebase() {
        stored.remove(start(), end());
        data.remove(start(), end());
        data.addAll(inMemory);
        unstaged = inMemory.copy();
        original = null;
        version++;
        journalled = false;
    }

    // ---- holders

    public boolean isHeld() {
        return holders > 0;
    }

    public void hold() {
        holders++;
    }

    public void release() {
        holders--;
        freeIfUnused();
    }

    private void freeIfUnused() {
        if (place != Place.IN_FILE && holders == 0 && buffer != null) {
            buffer.unshare();
            buffer = null;
            inMemory = new Ranges();
        }
    }

    /** A copy to be written instead of this one. Shares the memory until then. */
    Block fork() {
        Block copy = new Block(index, data.copy(), inMemory.copy(), unstaged.copy(), stored.copy());
        if (staging != null) {
            copy.unstaged.addAll(staging.and(inMemory));
        }
        copy.buffer = buffer == null ? null : buffer.share();
        System.arraycopy(checksums, 0, copy.checksums, 0, checksums.length);
        copy.checksummed = checksummed;
        copy.journalled = journalled;
        copy.original = this;
        drop();
        return copy;
    }

    // ---- staging

    public boolean isStaging() {
        return staging != null;
    }

    /** Whether its place in the staging file is being written, for it or for the block from which it was copied. */
    public boolean isPlaceWritten() {
        return isStaging() || (original != null && original.isPlaceWritten());
    }

    /** Whether some of it is not staged yet. */
    public boolean isUnstaged() {
        return !unstaged.isEmpty() || staging != null;
    }

    /** Whether its place in the staging file may be written now. */
    public boolean mayBeStaged() {
        Block first = original;
        if (first != null && !first.isHeld() && first.mayBeStaged()) {
            original = null;
            first = null;
        }
        return first == null && staging == null && !isDisplaced();
    }

    /**
     * {@link #mayBeStaged}, also in the place of a held block that is in memory. That block then stays in memory:
     * staging does not wait for its holder, which may wait for the store.
     */
    public boolean takesPlace() {
        if (original != null && original.leavesPlace()) {
            original = null;
        }
        return mayBeStaged();
    }

    /** It has another place in the staging file, and need not wait for the block from which it was copied. */
    public void standAlone() {
        original = null;
    }

    private boolean leavesPlace() {
        if (staging != null || (original != null && !original.leavesPlace())) {
            return false;
        }
        original = null;
        place = isHeld() && isInMemory() ? Place.DISPLACED : Place.LEFT; // the original of a copy has left the file
        return isDisplaced() || !isHeld();
    }

    private boolean isInMemory() {
        return inMemory.covers(data);
    }

    public boolean isDisplaced() {
        return place == Place.DISPLACED;
    }

    public boolean waitsForOriginal() {
        return staging == null && !mayBeStaged();
    }

    /** The bytes to stage, in memory that stays valid until {@link #endStaging}. */
    public BlockBuffer beginStaging() {
        BlockBuffer source = buffer;
        if (source == null || staging != null) {
            throw new IllegalStateException("block " + index + " has nothing to stage");
        }
        staging = unstaged;
        unstaged = new Ranges();
        source.pin();
        return source;
    }

    public Ranges staging() {
        return staging == null ? new Ranges() : staging;
    }

    public void endStaging(BlockBuffer source, boolean succeeded) {
        if (!succeeded) {
            unstaged.addAll(staging().and(inMemory));
        } else {
            store(staging().and(data));
        }
        staging = null;
        source.unpin();
    }

    /** Ranges that the journal has already need no new record when they are written again. */
    private void store(Ranges written) {
        for (ByteRange range : written.toList()) {
            if (!stored.covers(range.offset(), range.end())) {
                stored.add(range.offset(), range.end());
                journalled = false;
            }
        }
    }

    public Ranges stored() {
        return stored;
    }

    public boolean isJournalled() {
        return journalled;
    }

    public void setJournalled(boolean known) {
        journalled = known;
    }

    /** Records a range found in the staging file of an earlier run. */
    public void found(long from, long to) {
        data.add(from, to);
        stored.add(from, to);
        journalled = true;
    }

    @Nullable
    public BlockBuffer buffer() {
        return buffer;
    }

    /** Frees the memory if everything in it is staged and it is not in use. */
    public boolean evict() {
        if (buffer == null || isUnstaged() || isDisplaced() || buffer.isPinned()) {
            return false;
        }
        buffer.unshare();
        buffer = null;
        inMemory = new Ranges();
        return true;
    }

    /** Takes bytes that the former process left in memory. */
    public void takeOver(BlockBuffer memory, Ranges ranges) {
        buffer = memory;
        data.addAll(ranges);
        inMemory.addAll(ranges);
        unstaged.addAll(ranges);
    }

    // ---- checksums

    public boolean hasChecksum(int page) {
        return (checksummed & 1 << page) != 0;
    }

    public int checksum(int page) {
        return checksums[page];
    }

    public void setChecksum(int page, int checksum) {
        checksums[page] = checksum;
        checksummed |= 1 << page;
    }

    /** @throws IllegalStateException if no order of calls may lead to this */
    void checkInvariants() {
        Ranges somewhere = stored.copy();
        somewhere.addAll(inMemory);
        check(somewhere.covers(data), "all data is in memory or staged");
        check(data.covers(inMemory), "only data is in memory");
        check(inMemory.covers(unstaged) && inMemory.covers(staging()), "unstaged data is in memory");
        check(buffer != null || inMemory.isEmpty(), "data in memory has a buffer");
        check(holders >= 0, "a block is released as often as it is held");
    }

    private void check(boolean holds, String invariant) {
        if (!holds) {
            throw new IllegalStateException(invariant + ": " + this);
        }
    }

    @Override
    public String toString() {
        return "block " + index + " " + place + " data " + data + " stored " + stored + " in memory " + inMemory
                + " unstaged " + unstaged + " staging " + staging + " checksummed "
                + Integer.toBinaryString(checksummed) + " of "
                + Arrays.toString(checksums);
    }
}
