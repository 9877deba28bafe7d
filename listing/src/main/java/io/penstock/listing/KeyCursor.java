package io.penstock.listing;

import io.penstock.listing.KeyTable.Chunk;
import io.penstock.objectstore.StoredObject;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Reads a {@link KeyTable} in order, and finds keys in it. It is before the first key, at a key, or after the last. The
 * current entry is in arrays of the cursor; moving allocates nothing once they are large enough. Confined to one
 * thread.
 *
 * <p>After the table was closed, methods that move the cursor throw IllegalStateException, at the latest at the next
 * block.
 */
public final class KeyCursor {
    /** Appended to a prefix, it gives the least string greater than all that begin with it: no UTF-8 has this byte. */
    private static final int AFTER_ALL = 0xff;

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

    private final KeyTable table;

    /** The current block: -1 before the first key, the number of blocks after the last. */
    private int block = -1;

    /** The entry in the block. */
    private int index;

    /** The number of entries in the block. */
    private int count;

    /** The chunk of the block. */
    private Chunk chunk;

    /** The time of the block's first object. */
    private long blockMillis;

    private final EntryCode entry = new EntryCode();
    private final GrowingBytes key = new GrowingBytes(128);

    /** The target of the search. */
    private final GrowingBytes target = new GrowingBytes(128);

    /** The number of bytes that the target shares with the first key, found by {@link #compareFirst}. */
    private int shared;

    /** The page of the last requested entry. */
    private int page;

    KeyCursor(KeyTable table) {
        this.table = table;
        this.chunk = new Chunk(MemorySegment.NULL, List.of());
    }

    /**
     * Moves to the given key, or to the next key in the order.
     *
     * @return whether there is one
     */
    public boolean seek(String keyOrPrefix) {
        setTarget(keyOrPrefix);
        return seekTarget(0, table.blockCount());
    }

    /** Like {@link #seek}, but only forwards, and fast over short distances. */
    public boolean advance(String keyOrPrefix) {
        setTarget(keyOrPrefix);
        return advanceToTarget();
    }

    /**
     * Moves to the next key that does not begin with the prefix, without reading those that do.
     *
     * @return whether there is one
     */
    public boolean skip(String prefix) {
        if (block < 0 && !next()) {
            return false;
        }
        setTarget(prefix);
        if (isAtKey() && !key.startsWith(target)) {
            return true;
        }
        target.put(AFTER_ALL);
        return advanceToTarget();
    }

    /**
     * Moves to the next key.
     *
     * @return whether there is one
     */
    public boolean next() {
        if (isAtKey() && index + 1 < count) {
            index++;
            entry.readKey(key);
            entry.read(blockMillis);
            return true;
        }
        return block < table.blockCount() && load(block + 1);
    }

    public boolean isAtKey() {
        return block >= 0 && block < table.blockCount();
    }

    /** The key. */
    public String key() {
        checkIsAtKey();
        return key.text(key.length);
    }

    /** The key's first bytes, which must be UTF-8. */
    public String key(int bytes) {
        checkIsAtKey();
        return key.text(bytes);
    }

    public boolean is(String other) {
        setTarget(other);
        return isAtKey() && key.length == target.length && key.startsWith(target);
    }

    public boolean startsWith(String prefix) {
        setTarget(prefix);
        return isAtKey() && key.startsWith(target);
    }

    /** The first position of the ASCII character in the key's bytes, at or after {@code from}; -1 if there is none. */
    public int indexOf(char ascii, int from) {
        checkIsAtKey();
        for (int i = from; i < key.length; i++) {
            if (key.array[i] == ascii) {
                return i;
            }
        }
        return -1;
    }

    /** The object of the key. */
    public StoredObject object() {
        checkIsAtKey();
        return entry.object(key.text(key.length), chunk.storageClasses());
    }

    /** Compares the current keys of two cursors, also of different tables, in the order in which S3 lists. */
    public int compareKey(KeyCursor other) {
        checkIsAtKey();
        other.checkIsAtKey();
        return key.compareTo(other.key);
    }

    /** Whether the current objects of two cursors have the same ETag, size and time. */
    public boolean isSameVersion(KeyCursor other) {
        checkIsAtKey();
        other.checkIsAtKey();
        return entry.isSameVersion(other.entry);
    }

    /** When the page of the object was requested, on the builder's clock. */
    public long asOf() {
        checkIsAtKey();
        return table.pageTime(page());
    }

    /**
     * Since when no key is known to lie between the previous key and this one, or after the last: the request time of
     * the page around that gap, or of the older page if the gap is between two.
     */
    public long asOfGap() {
        if (block < 0) {
            throw new IllegalStateException("the cursor is before the first key");
        }
        int last = isAtKey() ? page() : table.pageCount() - 1;
        long oldest = table.pageTime(last);
        // Entries before this one belong to the last page that begins before it.
        for (int i = last; i > 0 && table.pageStart(i) >= position(); i--) {
            oldest = older(oldest, table.pageTime(i - 1));
        }
        return oldest;
    }

    /** Times of the nano clock are compared by their difference. */
    public static long older(long a, long b) {
        return a - b < 0 ? a : b;
    }

    private void checkIsAtKey() {
        if (!isAtKey()) {
            throw new IllegalStateException("the cursor is not at a key");
        }
    }

    private long position() {
        return ((long) block << KeyTable.INDEX_BITS) | index;
    }

    private int page() {
        long position = position();
        boolean isSame = table.pageStart(page) <= position
                && (page + 1 == table.pageCount() || position < table.pageStart(page + 1));
        if (!isSame) {
            page = table.pageOf(position);
        }
        return page;
    }

    private void setTarget(String text) {
        target.clear();
        target.putUtf8(text);
    }

    // ---- finding

    private boolean advanceToTarget() {
        int blocks = table.blockCount();
        if (block < 0) {
            return seekTarget(0, table.blockCount());
        } else if (block == blocks || key.compareTo(target) >= 0) {
            return block < blocks;
        }
        // Steps of 1, 2, 4, … blocks, until one begins after the target.
        int low = block;
        int high = block + 1;
        while (high < blocks && compareFirst(high, 0) >= 0) {
            int step = 2 * (high - block);
            low = high;
            high = (int) Math.min(blocks, (long) block + step);
        }
        boolean isHere = low == block && high == block + 1;
        return isHere ? walk() : seekTarget(low, high);
    }

    /**
     * Requires that the target is not before the first key of {@code from}, unless that is 0, but before that of
     * {@code to}.
     */
    private boolean seekTarget(int from, int to) {
        int low = from;
        int high = to;
        int lowShared = 0;
        int highShared = 0;
        while (high - low > 1) {
            int middle = (low + high) >>> 1;
            // A key between two others shares with the target at least the bytes that both of them share with it.
            if (compareFirst(middle, Math.min(lowShared, highShared)) >= 0) {
                low = middle;
                lowShared = shared;
            } else {
                high = middle;
                highShared = shared;
            }
        }
        return load(low) && walk();
    }

    /** Moves to the first key that is not before the target. */
    private boolean walk() {
        while (key.compareTo(target) < 0) {
            if (!next()) {
                return false;
            }
        }
        return true;
    }

    /**
     * Compares the target with the first key of a block.
     *
     * @param from number of bytes that both are known to share
     * @return less than 0 if the target is before it, 0 if they are equal
     */
    private int compareFirst(int other, int from) {
        MemorySegment memory = table.chunk(other).memory();
        long at = table.offset(other) + 1L; // after the count
        int length = memory.get(BYTE, at++);
        if (length < 0) {
            length = (length & 0x7f) | (memory.get(BYTE, at++) << 7); // for keys up to 16 KiB
        }
        int both = Math.min(length, target.length);
        for (int i = from; i < both; i++) {
            int a = target.array[i] & 0xff;
            int b = memory.get(BYTE, at + i) & 0xff;
            if (a != b) {
                shared = i;
                return a - b;
            }
        }
        shared = both;
        return target.length - length;
    }

    // ---- reading

    /** Moves to the first entry of a block; after the last key if there is no such block. */
    private boolean load(int next) {
        if (next == table.blockCount()) {
            block = next;
            index = 0;
            return false;
        }
        chunk = table.chunk(next);
        int length = table.length(next);
        if (entry.block.length < length) {
            entry.block = new byte[Math.max(length, 2 * entry.block.length)];
        }
        MemorySegment.copy(chunk.memory(), BYTE, table.offset(next), entry.block, 0, length);
        block = next;
        index = 0;
        count = entry.block[0];
        entry.at = 1;
        entry.readFirstKey(key);
        entry.read(0);
        blockMillis = entry.millis();
        return true;
    }
}
