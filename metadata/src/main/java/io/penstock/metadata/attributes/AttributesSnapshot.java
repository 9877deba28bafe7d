package io.penstock.metadata.attributes;

import io.penstock.core.ObjectVersion;
import io.penstock.listing.FileReplacement;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UTFDataFormatException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import java.util.zip.CheckedOutputStream;

/**
 * The settled attributes of objects on disk, for the next mount. Each belongs to a version, so changes need not touch
 * the file. It is replaced as a whole:
 *
 * <pre>
 *   magic, version, owner, number of objects
 *   each object: key, ETag, size, time in seconds, number of headers, their names and values
 *   CRC32C of all that
 * </pre>
 *
 * <p>Safe for use by several threads, but only one may {@link #write} at a time.
 */
public final class AttributesSnapshot {
    /** "PENSATTR". */
    private static final long MAGIC = 0x50454e53_41545452L;

    private static final int VERSION = 2;

    private static final int BUFFER = 256 << 10;

    private final Path file;
    private final String owner;

    /** @param owner the origin of the keys, such as server, bucket and prefix: a file of another owner is not read */
    public AttributesSnapshot(Path file, String owner) {
        this.file = file;
        this.owner = owner;
    }

    /** Replaces the file. If this throws, the former file is unchanged, unless only the sync of the folder failed. */
    void write(Collection<KnownAttributes.Settled> all) throws IOException {
        FileReplacement.write(file, channel -> write(all, channel));
    }

    private void write(Collection<KnownAttributes.Settled> all, FileChannel channel) throws IOException {
        OutputStream buffered = new BufferedOutputStream(Channels.newOutputStream(channel), BUFFER);
        CheckedOutputStream checked = new CheckedOutputStream(buffered, new CRC32C());
        DataOutputStream out = new DataOutputStream(checked);
        out.writeLong(MAGIC);
        out.writeInt(VERSION);
        out.writeUTF(owner);
        out.writeInt(all.size());
        for (KnownAttributes.Settled known : all) {
            write(known, out);
        }
        out.writeLong(checked.getChecksum().getValue());
        out.flush();
    }

    private static void write(KnownAttributes.Settled known, DataOutputStream out) throws IOException {
        ObjectVersion version = known.version();
        out.writeUTF(version.key());
        out.writeUTF(version.etag());
        out.writeLong(version.size());
        out.writeLong(version.lastModified().getEpochSecond());
        Map<String, String> headers = new TreeMap<>(AttributeHeaders.of(known.attributes()));
        headers.values().removeIf(String::isEmpty);
        out.writeShort(headers.size());
        for (Map.Entry<String, String> header : headers.entrySet()) {
            out.writeUTF(header.getKey());
            out.writeUTF(header.getValue());
        }
    }

    /**
     * The attributes that the last mount left.
     *
     * @return nothing if they belong to another owner or program version
     * @throws java.nio.file.NoSuchFileException if there is no file
     * @throws IOException if the file is damaged, or cannot be read
     */
    List<KnownAttributes.Settled> read() throws IOException {
        try (CheckedInputStream checked =
                new CheckedInputStream(new BufferedInputStream(Files.newInputStream(file), BUFFER), new CRC32C())) {
            DataInputStream in = new DataInputStream(checked);
            if (in.readLong() != MAGIC
                    || in.readInt() != VERSION
                    || !in.readUTF().equals(owner)) {
                return List.of();
            }
            int count = in.readInt();
            List<KnownAttributes.Settled> all = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                all.add(readOne(in));
            }
            long sum = checked.getChecksum().getValue();
            if (in.readLong() != sum) {
                throw new IOException(file + " is damaged");
            }
            return all;
        } catch (EOFException | UTFDataFormatException | DateTimeException | IllegalArgumentException e) {
            throw new IOException(file + " is damaged", e);
        }
    }

    private static KnownAttributes.Settled readOne(DataInputStream in) throws IOException {
        ObjectVersion version =
                new ObjectVersion(in.readUTF(), in.readUTF(), in.readLong(), Instant.ofEpochSecond(in.readLong()));
        SortedMap<String, String> headers = new TreeMap<>();
        for (int left = in.readUnsignedShort(); left > 0; left--) {
            headers.put(in.readUTF(), in.readUTF());
        }
        return new KnownAttributes.Settled(version, AttributeHeaders.read(headers));
    }
}
