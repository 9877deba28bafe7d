package io.penstock.inventory;

import io.penstock.core.Printable;
import io.penstock.objectstore.StoredObject;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;

/**
 * A list of a bucket's objects at some time. It is read from a Parquet file with the columns of S3 Inventory (as
 * written by {@link IndexWriter}), or from an S3 Inventory that was copied to a local disk, given its
 * {@code manifest.json}. Immutable; the files must not change while it is in use.
 */
public final class Index {
    private static final byte[] PARQUET = "PAR1".getBytes(StandardCharsets.US_ASCII);

    /** The number of rows between two checks for an interrupt. */
    private static final int INTERRUPTIBLE_EACH = 4096;

    private final String bucket;
    private final String prefix;
    private final Instant asOf;
    private final List<IndexFile> files;

    /** Receives the objects. */
    @FunctionalInterface
    public interface Receiver {
        void receive(StoredObject object) throws InterruptedException;
    }

    private Index(String bucket, String prefix, Instant asOf, List<IndexFile> files) {
        this.bucket = bucket;
        this.prefix = prefix;
        this.asOf = asOf;
        this.files = files;
    }

    /**
     * Finds an index's files and checks that they have the required columns and, from one row, that they belong to the
     * bucket.
     *
     * @param file a Parquet file, or a {@code manifest.json}
     * @param prefix of the wanted keys; empty for all
     * @throws IndexException if it cannot be used for this bucket
     */
    public static Index open(Path file, String bucket, String prefix) throws IOException {
        Index index = isParquet(file) ? ofParquet(file, bucket, prefix) : ofManifest(file, bucket, prefix);
        index.checkFirstRow();
        return index;
    }

    private static boolean isParquet(Path file) throws IndexException {
        try (InputStream bytes = Files.newInputStream(file)) {
            return Arrays.equals(bytes.readNBytes(PARQUET.length), PARQUET);
        } catch (NoSuchFileException e) {
            throw new IndexException(
                    "there is no file '" + file
                            + "': name one made by penstock index export, or the manifest.json of an S3 Inventory",
                    e);
        } catch (IOException e) {
            throw IndexException.unreadable(file, e);
        }
    }

    private static Index ofParquet(Path file, String bucket, String prefix) throws IOException {
        IndexMetadata metadata = ParquetRowReader.metadata(file);
        if (!prefix.startsWith(metadata.prefix())) {
            throw new IndexException("'" + file + "' lists only the objects below '"
                    + Printable.text(metadata.prefix()) + "', not all of 's3://" + bucket + "/"
                    + Printable.text(prefix) + "': export an index that covers it");
        }
        Instant asOf = metadata.listedAt();
        return new Index(
                bucket,
                prefix,
                asOf == null ? Files.getLastModifiedTime(file).toInstant() : asOf,
                List.of(new IndexFile.Parquet(file)));
    }

    private static Index ofManifest(Path file, String bucket, String prefix) throws IOException {
        Manifest manifest = Manifest.read(file);
        if (!manifest.sourceBucket().equals(bucket)) {
            throw otherBucket("'" + file + "'", manifest.sourceBucket(), bucket);
        }
        return new Index(bucket, prefix, manifest.created(), manifest.files());
    }

    private static IndexException otherBucket(String what, String found, String expected) {
        return new IndexException(what + " is from the bucket '" + Printable.text(found) + "', not from '" + expected
                + "': name an index of that bucket");
    }

    private void checkFirstRow() throws IOException {
        if (!files.isEmpty()) {
            IndexFile first = files.getFirst();
            try (RowReader rows = first.open()) {
                InventoryRow row = rows.next();
                if (row != null) {
                    checkBucket(row, first.path());
                }
            }
        }
    }

    private void checkBucket(InventoryRow row, Path file) throws IndexException {
        if (!row.bucket().equals(bucket)) {
            throw otherBucket("row " + row.number() + " of '" + file + "'", row.bucket(), bucket);
        }
    }

    /**
     * The time of its content: when the listing began. For a Parquet file not written by {@link IndexWriter}, the time
     * when the file was written.
     */
    public Instant asOf() {
        return asOf;
    }

    /**
     * Reads all objects whose keys begin with the prefix, in no particular order. They appear as in a listing: the
     * latest version, with its time in whole seconds. A key that changed during the listing may appear more than once.
     *
     * @throws IndexException if a file is damaged or belongs to another bucket; some objects may have been read by then
     */
    public void read(Receiver receiver) throws IOException, InterruptedException {
        for (IndexFile file : files) {
            try (RowReader rows = file.open()) {
                for (InventoryRow row = rows.next(); row != null; row = rows.next()) {
                    if (row.number() % INTERRUPTIBLE_EACH == 0 && Thread.interrupted()) {
                        throw new InterruptedException("interrupted while an index is read");
                    }
                    checkBucket(row, file.path());
                    if (row.isCurrent() && row.key().startsWith(prefix)) {
                        receiver.receive(row.object(file.path()));
                    }
                }
            }
        }
    }
}
