package io.penstock.cache.disk;

import io.penstock.disk.RecordLog;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.IntBuffer;

/** A record of the index log. Encoded as a type byte, the data file's name, and the fields in order, big-endian. */
public sealed interface IndexRecord {
    /** The name of the object's data file. */
    long file();

    /** From now on the file belongs to this object version. May be repeated. */
    record ObjectAdded(long file, ObjectId object, long size, PageGeometry geometry) implements IndexRecord {
        static ObjectAdded of(ObjectExtents object) {
            return new ObjectAdded(object.fileName(), object.id(), object.size(), object.geometry());
        }
    }

    /**
     * Pages are on disk.
     *
     * @param pages bit i represents page {@code firstPage + i}
     * @param checksums CRC32C of each of these pages, in order
     */
    record PagesStored(long file, int firstPage, int pages, IntBuffer checksums) implements IndexRecord {}

    /** Pages must not, or no longer, be used; same bits as in {@link PagesStored}. */
    record PagesDropped(long file, int firstPage, int pages) implements IndexRecord {}

    /** The object is forgotten and the file is removed. */
    record ObjectRemoved(long file) implements IndexRecord {}

    /** The file may be read outside this cache for as long as it exists. The record may be repeated. */
    record ObjectLent(long file) implements IndexRecord {}

    /** Whether the last read of the object was in long runs; false without such a record. */
    record ObjectStreamed(long file, boolean is) implements IndexRecord {
        /** For an object with a known shape. */
        static ObjectStreamed of(ObjectExtents object) {
            return new ObjectStreamed(object.fileName(), object.readShape() == ReadShape.IN_RUNS);
        }
    }

    /**
     * A small object is in a pack.
     *
     * @param file the pack's file
     * @param length in bytes
     * @param checksum CRC32C
     */
    record ObjectPacked(long file, ObjectId object, long position, int length, int checksum) implements IndexRecord {}

    /** A small object in a pack can no longer be used. */
    record PackedDropped(long file, ObjectId object, long position) implements IndexRecord {}

    /** The index of a cache folder: pages whose records are lost are fetched again. */
    RecordLog.Format<IndexRecord> FORMAT = new RecordLog.Format<>(
            0x50454e53_494458_01L, // "PENSIDX", version 1
            false,
            4L << 20,
            IndexRecord::encode,
            IndexRecord::decode);

    private void encode(DataOutputStream to) throws IOException {
        switch (this) {
            case ObjectAdded(long file, ObjectId object, long size, PageGeometry geometry) -> {
                start(
                        to,
                        switch (geometry) {
                            case PAGES -> 1;
                            case SECTORS -> 6;
                            case PACKS -> 8;
                        });
                encode(object, to);
                to.writeLong(size);
            }
            case PagesStored(long file, int firstPage, int pages, IntBuffer checksums) -> {
                start(to, 2);
                to.writeInt(firstPage);
                to.writeInt(pages);
                for (int i = 0; i < checksums.limit(); i++) {
                    to.writeInt(checksums.get(i));
                }
            }
            case PagesDropped(long file, int firstPage, int pages) -> {
                start(to, 3);
                to.writeInt(firstPage);
                to.writeInt(pages);
            }
            case ObjectRemoved(long file) -> start(to, 4);
            case ObjectLent(long file) -> start(to, 5);
            case ObjectStreamed(long file, boolean is) -> {
                start(to, 7);
                to.writeBoolean(is);
            }
            case ObjectPacked(long file, ObjectId object, long position, int length, int checksum) -> {
                start(to, 9);
                encode(object, to);
                to.writeLong(position);
                to.writeInt(length);
                to.writeInt(checksum);
            }
            case PackedDropped(long file, ObjectId object, long position) -> {
                start(to, 10);
                encode(object, to);
                to.writeLong(position);
            }
        }
    }

    private static void encode(ObjectId object, DataOutputStream to) throws IOException {
        to.writeLong(object.high());
        to.writeLong(object.low());
    }

    private void start(DataOutputStream to, int type) throws IOException {
        to.writeByte(type);
        to.writeLong(file());
    }

    private static IndexRecord decode(DataInputStream from) throws IOException {
        int type = from.readByte();
        long file = from.readLong();
        return switch (type) {
            case 1 -> decodeObject(file, PageGeometry.PAGES, from);
            case 2 -> decodePages(file, from);
            case 3 -> new PagesDropped(file, from.readInt(), from.readInt());
            case 4 -> new ObjectRemoved(file);
            case 5 -> new ObjectLent(file);
            case 6 -> decodeObject(file, PageGeometry.SECTORS, from);
            case 7 -> new ObjectStreamed(file, from.readBoolean());
            case 8 -> decodeObject(file, PageGeometry.PACKS, from);
            case 9 -> new ObjectPacked(file, decodeId(from), from.readLong(), from.readInt(), from.readInt());
            case 10 -> new PackedDropped(file, decodeId(from), from.readLong());
            default -> throw new IOException("unknown record type: " + type);
        };
    }

    private static ObjectAdded decodeObject(long file, PageGeometry geometry, DataInputStream from) throws IOException {
        return new ObjectAdded(file, decodeId(from), from.readLong(), geometry);
    }

    private static ObjectId decodeId(DataInputStream from) throws IOException {
        return new ObjectId(from.readLong(), from.readLong());
    }

    private static PagesStored decodePages(long file, DataInputStream from) throws IOException {
        int firstPage = from.readInt();
        int pages = from.readInt();
        int[] checksums = new int[Integer.bitCount(pages)];
        for (int i = 0; i < checksums.length; i++) {
            checksums[i] = from.readInt();
        }
        return new PagesStored(file, firstPage, pages, IntBuffer.wrap(checksums));
    }
}
