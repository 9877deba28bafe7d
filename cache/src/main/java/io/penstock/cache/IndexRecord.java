package io.penstock.cache;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import org.jspecify.annotations.Nullable;

/** What the index log says. Encoded as a type byte, the data file's name, and the fields in order, big-endian. */
sealed interface IndexRecord {
    /** The data file of the object. */
    long file();

    /** From now on the file belongs to this object version. May be said again. */
    record ObjectAdded(long file, ObjectId object, long size) implements IndexRecord {}

    /**
     * Pages are on disk.
     *
     * @param pages bit i stands for page {@code firstPage + i}
     * @param checksums CRC32C of each of these pages, in order
     */
    record PagesStored(long file, int firstPage, int pages, IntBuffer checksums) implements IndexRecord {}

    /** Pages are not, or no longer, to be used; same bits as in {@link PagesStored}. */
    record PagesDropped(long file, int firstPage, int pages) implements IndexRecord {}

    /** The object is forgotten and the file goes. */
    record ObjectRemoved(long file) implements IndexRecord {}

    /** Somebody may read the file without this cache, for as long as it is there. May be said again. */
    record ObjectLent(long file) implements IndexRecord {}

    /** The most that {@link #encode} writes. */
    int MAX_LENGTH = 1 + Long.BYTES + 2 * Integer.BYTES + Extent.MAX_PAGES * Integer.BYTES;

    default void encode(ByteBuffer to) {
        switch (this) {
            case ObjectAdded(long file, ObjectId object, long size) ->
                to.put((byte) 1)
                        .putLong(file)
                        .putLong(object.high())
                        .putLong(object.low())
                        .putLong(size);
            case PagesStored(long file, int firstPage, int pages, IntBuffer checksums) -> {
                to.put((byte) 2).putLong(file).putInt(firstPage).putInt(pages);
                for (int i = 0; i < checksums.limit(); i++) {
                    to.putInt(checksums.get(i));
                }
            }
            case PagesDropped(long file, int firstPage, int pages) ->
                to.put((byte) 3).putLong(file).putInt(firstPage).putInt(pages);
            case ObjectRemoved(long file) -> to.put((byte) 4).putLong(file);
            case ObjectLent(long file) -> to.put((byte) 5).putLong(file);
        }
    }

    /** Null if it is none that this version knows. */
    static @Nullable IndexRecord decode(ByteBuffer from) {
        try {
            return switch (from.get()) {
                case 1 -> new ObjectAdded(from.getLong(), new ObjectId(from.getLong(), from.getLong()), from.getLong());
                case 2 -> decodePages(from);
                case 3 -> new PagesDropped(from.getLong(), from.getInt(), from.getInt());
                case 4 -> new ObjectRemoved(from.getLong());
                case 5 -> new ObjectLent(from.getLong());
                default -> null;
            };
        } catch (BufferUnderflowException e) {
            return null;
        }
    }

    private static PagesStored decodePages(ByteBuffer from) {
        long file = from.getLong();
        int firstPage = from.getInt();
        int pages = from.getInt();
        int[] checksums = new int[Integer.bitCount(pages)];
        for (int i = 0; i < checksums.length; i++) {
            checksums[i] = from.getInt();
        }
        return new PagesStored(file, firstPage, pages, IntBuffer.wrap(checksums));
    }
}
