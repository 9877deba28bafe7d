package io.penstock.metadata;

import io.penstock.metadata.KeyTable.Chunk;
import io.penstock.objectstore.StoredObject;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Reads a {@link KeyTable} in order, and finds keys in it. It stands before the first key, at a key, or behind the last.
 * What it stands at it has in arrays of its own; to move it allocates nothing, once these are large enough. Confined to
 * one thread.
 *
 * <p>After the table was closed, methods that move it throw IllegalStateException, at the latest at the next block.
 */
final class KeyCursor {
    /** Behind a prefix it makes the least that is greater than all that begins so: no UTF-8 has this byte. */
    private static final int AFTER_ALL = 0xff;

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

    private final KeyTable table;

    /** At which it stands: -1 before the first key, the number of blocks behind the last. */
    private int block = -1;

    /** Of the entry in the block. */
    private int index;

    /** Entries in the block. */
    private int count;

    /** The chunk of the block. */
    private Chunk chunk;

    /** When the first object of the block was written. */
    private long blockMillis;

    private final EntryCode entry = new EntryCode();
    private final GrowingBytes key = new GrowingBytes(128);

    /** What is looked for. */
    private final GrowingBytes target = new GrowingBytes(128);

    /** What {@link #compareFirst} found the target and the first key to share. */
    private int shared;

    /** The page of the last entry that was asked for. */
    private int page;

    KeyCursor(KeyTable table) {
        this.table = table;
        this.chunk = new Chunk(MemorySegment.NULL, List.of());
    }

    /**
     * Moves to the first key that is the given one, or behind it in the order.
     *
     * @return whether there is one
     */
    boolean seek(String keyOrPrefix) {
        setTarget(keyOrPrefix);
        return seekTarget(0, table.blockCount());
    }

    /** Like {@link #seek}, but never backwards; quick where the way is short. */
    boolean advance(String keyOrPrefix) {
        setTarget(keyOrPrefix);
        return advanceToTarget();
    }

    /**
     * Moves on to the first key that does not begin so, without reading those that do.
     *
     * @return whether there is one
     */
    boolean skip(String prefix) {
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
    boolean next() {
        if (isAtKey() && index + 1 < count) {
            index++;
            entry.readKey(key);
            entry.read(blockMillis);
            return true;
        }
        return block < table.blockCount() && load(block + 1);
    }

    boolean isAtKey() {
        return block >= 0 && block < table.blockCount();
    }

    /** The key. */
    String key() {
        checkIsAtKey();
        return key.text(key.length);
    }

    /** The key's first bytes, which must be UTF-8. */
    String key(int bytes) {
        checkIsAtKey();
        return key.text(bytes);
    }

    boolean is(String other) {
        setTarget(other);
        return isAtKey() && key.length == target.length && key.startsWith(target);
    }

    boolean startsWith(String prefix) {
        setTarget(prefix);
        return isAtKey() && key.startsWith(target);
    }

    /** Where in the key's bytes the ASCII character is found first, not before {@code from}; -1 if nowhere. */
    int indexOf(char ascii, int from) {
        checkIsAtKey();
        for (int i = from; i < key.length; i++) {
            if (key.array[i] == ascii) {
                return i;
            }
        }
        return -1;
    }

    /** The object of the key. */
    StoredObject object() {
        checkIsAtKey();
        return entry.object(key.text(key.length), chunk.storageClasses());
    }

    /** Compares the keys at which two cursors stand, be they of different tables, in the order in which S3 lists. */
    int compareKey(KeyCursor other) {
        checkIsAtKey();
        other.checkIsAtKey();
        return key.compareTo(other.key);
    }

    /** Whether the objects at which two cursors stand have the same ETag, size and time. */
    boolean isSameVersion(KeyCursor other) {
        checkIsAtKey();
        other.checkIsAtKey();
        return entry.isSameVersion(other.entry);
    }

    /** When the page that brought the object was asked for, on the clock that the builder was told of. */
    long asOf() {
        checkIsAtKey();
        return table.pageTime(page());
    }

    /**
     * Since when it is known that there is no key between the one before this and this, or behind the last: the time of
     * the page around it, of the oldest if it lies between pages.
     */
    long asOfGap() {
        if (block < 0) {
            throw new IllegalStateException("the cursor is before the first key");
        }
        int last = isAtKey() ? page() : table.pageCount() - 1;
        long oldest = table.pageTime(last);
        // Entries before this one are of the last page that begins before it.
        for (int i = last; i > 0 && table.pageStart(i) >= position(); i--) {
            oldest = older(oldest, table.pageTime(i - 1));
        }
        return oldest;
    }

    /** Times of the nano clock are compared by their difference. */
    static long older(long a, long b) {
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
        // Steps of 1, 2, 4, … blocks, until one begins behind the target.
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

    /** The target is not before the first key of {@code from}, unless that is 0, and before that of {@code to}. */
    private boolean seekTarget(int from, int to) {
        int low = from;
        int high = to;
        int lowShared = 0;
        int highShared = 0;
        while (high - low > 1) {
            int middle = (low + high) >>> 1;
            // Whatever lies between two keys shares with the target what both do.
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

    /** Goes on from the key to the first that is not before the target. */
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
     * @param from how many bytes both are known to share
     * @return less than 0 if the target is before it, 0 if they are equal
     */
    private int compareFirst(int other, int from) {
        MemorySegment memory = table.chunk(other).memory();
        long at = table.offset(other) + 1L; // behind the count
        int length = memory.get(BYTE, at++);
        if (length < 0) {
            length = (length & 0x7f) | (memory.get(BYTE, at++) << 7); // of keys up to 16 KiB
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

    /** Moves to the first entry of a block; behind the last key if there is no such block. */
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
