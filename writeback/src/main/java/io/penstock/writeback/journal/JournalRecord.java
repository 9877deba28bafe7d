package io.penstock.writeback.journal;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.OperationId;
import io.penstock.objectstore.UploadedPart;
import io.penstock.writeback.upload.PartLayout;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A record of a journal. Encoded as a type byte and the fields in order, big-endian, strings as modified UTF-8. Type 3
 * marks the log's own records.
 */
public sealed interface JournalRecord {
    /**
     * The file's identity; the last record counts. If it differs from the one before, earlier {@link Sent} records no
     * longer count.
     *
     * @param namespace of the key: endpoint and bucket
     * @param base the base version
     * @param replaced the version that an empty file took the place of
     * @param renamed whether that was by a rename, so that it keeps none of its properties
     */
    record Opened(
            String namespace,
            String key,
            @Nullable ObjectVersion base,
            @Nullable ObjectVersion replaced,
            boolean renamed)
            implements JournalRecord {}

    /**
     * What has changed in the content since the previous record of this kind. To be applied in this order: the bytes
     * from {@code cut} on are cut off, {@code zeroed} becomes zeros, {@code data} is read from the data file.
     *
     * @param baseEnd the end of the base version's bytes that are still part of the file
     * @param headers of the object, in place of any earlier ones
     */
    record Written(
            long size,
            long baseEnd,
            long cut,
            Instant modified,
            List<ByteRange> zeroed,
            List<ByteRange> data,
            SortedMap<String, String> headers)
            implements JournalRecord {}

    /**
     * The data of {@link Written}, from the next on, lies in the data file of this generation; before, in that of 0.
     */
    record InData(int generation) implements JournalRecord {}

    /** A multipart upload of it has begun, maybe under a name that it had before. */
    record UploadCreated(MultipartUpload upload, PartLayout layout) implements JournalRecord {}

    /** The upload that was created last has this part, of bytes with this CRC32C. */
    record PartUploaded(UploadedPart part, int crc32c) implements JournalRecord {}

    /** Nothing is left at the store of the upload with this id. */
    record UploadEnded(String id) implements JournalRecord {}

    /** The content no longer counts: the journal is only there until its uploads are aborted. */
    record Dropped() implements JournalRecord {}

    /**
     * Its name is about to be removed, or taken by another file, unless {@link Opened} follows; if nothing does, a
     * commit that finds another object, or none, has not met another writer's.
     */
    record Withdrawn() implements JournalRecord {}

    /**
     * A request is about to be sent, of this operation, that makes an object of this size: if a commit finds an object of
     * that operation, it is not another writer's. One upload may be sent with several contents, of which each has another
     * size if the store can have taken an earlier one unnoticed.
     */
    record Sent(OperationId operation, long size) implements JournalRecord {}

    /** It cannot be committed automatically. */
    record Failed(String reason) implements JournalRecord {}

    /** A later version of the file waits too, or was committed: this one is never committed. */
    record Older() implements JournalRecord {}

    default void encode(DataOutputStream to) throws IOException {
        switch (this) {
            case Opened(String namespace, String key, ObjectVersion base, ObjectVersion replaced, boolean renamed) -> {
                to.writeByte(1);
                to.writeUTF(namespace);
                to.writeUTF(key);
                encode(base, to);
                encode(replaced, to);
                to.writeBoolean(renamed);
            }
            case Written(
                    long size,
                    long baseEnd,
                    long cut,
                    Instant modified,
                    List<ByteRange> zeroed,
                    List<ByteRange> data,
                    SortedMap<String, String> headers) -> {
                to.writeByte(2);
                to.writeLong(size);
                to.writeLong(baseEnd);
                to.writeLong(cut);
                encode(modified, to);
                encode(zeroed, to);
                encode(data, to);
                encode(headers, to);
            }
            case UploadCreated(MultipartUpload upload, PartLayout layout) -> {
                to.writeByte(4);
                to.writeUTF(upload.key());
                to.writeUTF(upload.id());
                to.writeUTF(upload.operation().text());
                to.writeLong(layout.baseEnd());
                to.writeInt(layout.baseParts());
                to.writeLong(layout.partBytes());
                to.writeInt(layout.doubleEvery());
            }
            case PartUploaded(UploadedPart part, int crc32c) -> {
                to.writeByte(5);
                to.writeInt(part.number());
                to.writeUTF(part.etag());
                to.writeLong(part.size());
                to.writeInt(crc32c);
            }
            case UploadEnded(String id) -> {
                to.writeByte(6);
                to.writeUTF(id);
            }
            case Failed(String reason) -> {
                to.writeByte(7);
                to.writeUTF(reason.substring(0, Math.min(reason.length(), 4096)));
            }
            case Dropped() -> to.writeByte(8);
            case Withdrawn() -> to.writeByte(9);
            case Older() -> to.writeByte(12);
            case Sent(OperationId operation, long size) -> {
                to.writeByte(11);
                to.writeUTF(operation.text());
                to.writeLong(size);
            }
            case InData(int generation) -> {
                to.writeByte(10);
                to.writeInt(generation);
            }
        }
    }

    /** @throws IOException if it is none that this version knows */
    static JournalRecord decode(DataInputStream from) throws IOException {
        int type = from.readByte();
        return switch (type) {
            case 1 ->
                new Opened(
                        from.readUTF(), from.readUTF(), decodeVersion(from), decodeVersion(from), from.readBoolean());
            case 2 ->
                new Written(
                        from.readLong(),
                        from.readLong(),
                        from.readLong(),
                        decodeInstant(from),
                        decodeRanges(from),
                        decodeRanges(from),
                        decodeHeaders(from));
            case 4 ->
                new UploadCreated(
                        new MultipartUpload(from.readUTF(), from.readUTF(), new OperationId(from.readUTF())),
                        new PartLayout(from.readLong(), from.readInt(), from.readLong(), from.readInt()));
            case 5 ->
                new PartUploaded(new UploadedPart(from.readInt(), from.readUTF(), from.readLong()), from.readInt());
            case 6 -> new UploadEnded(from.readUTF());
            case 7 -> new Failed(from.readUTF());
            case 8 -> new Dropped();
            case 9 -> new Withdrawn();
            case 10 -> new InData(from.readInt());
            case 11 -> new Sent(new OperationId(from.readUTF()), from.readLong());
            case 12 -> new Older();
            default -> throw new IOException("unknown record type: " + type);
        };
    }

    static void encode(@Nullable ObjectVersion version, DataOutputStream to) throws IOException {
        to.writeBoolean(version != null);
        if (version != null) {
            to.writeUTF(version.key());
            to.writeUTF(version.etag());
            to.writeLong(version.size());
            encode(version.lastModified(), to);
        }
    }

    static @Nullable ObjectVersion decodeVersion(DataInputStream from) throws IOException {
        return from.readBoolean()
                ? new ObjectVersion(from.readUTF(), from.readUTF(), from.readLong(), decodeInstant(from))
                : null;
    }

    private static void encode(Instant time, DataOutputStream to) throws IOException {
        to.writeLong(time.getEpochSecond());
        to.writeInt(time.getNano());
    }

    private static Instant decodeInstant(DataInputStream from) throws IOException {
        return Instant.ofEpochSecond(from.readLong(), from.readInt());
    }

    private static void encode(SortedMap<String, String> headers, DataOutputStream to) throws IOException {
        to.writeInt(headers.size());
        for (Map.Entry<String, String> header : headers.entrySet()) {
            to.writeUTF(header.getKey());
            to.writeUTF(header.getValue());
        }
    }

    private static SortedMap<String, String> decodeHeaders(DataInputStream from) throws IOException {
        SortedMap<String, String> headers = new TreeMap<>();
        int count = from.readInt();
        for (int i = 0; i < count; i++) {
            headers.put(from.readUTF(), from.readUTF());
        }
        return headers;
    }

    static void encode(List<ByteRange> ranges, DataOutputStream to) throws IOException {
        to.writeInt(ranges.size());
        for (ByteRange range : ranges) {
            to.writeLong(range.offset());
            to.writeLong(range.length());
        }
    }

    static List<ByteRange> decodeRanges(DataInputStream from) throws IOException {
        int count = from.readInt();
        List<ByteRange> ranges = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ranges.add(new ByteRange(from.readLong(), from.readLong()));
        }
        return ranges;
    }
}
