package io.penstock.inventory;

import com.jerolba.carpet.CarpetWriter;
import com.jerolba.carpet.TimeUnit;
import com.jerolba.carpet.annotation.Alias;
import com.jerolba.carpet.annotation.NotNull;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.StoredObject;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;

/**
 * Writes a Parquet file with the columns of S3 Inventory, which {@link Index} reads. When complete, it replaces a file
 * of the same name.
 *
 * <pre>
 *   OPEN ──finish──▶ FINISHED: the file is there
 *     └──close──▶ CLOSED: there is no new file; an earlier one remains
 * </pre>
 *
 * <p>Used by one thread at a time.
 */
public final class IndexWriter implements AutoCloseable {
    /** Bytes kept in the heap until they are written. */
    private static final long ROW_GROUP = 32 << 20;

    private final String bucket;
    private final ReplacingFile file;
    private final CarpetWriter<WrittenRow> rows;
    private boolean open = true;

    /** A row with Inventory's column names and types: "Amazon S3 Inventory manifest" in the S3 User Guide. */
    record WrittenRow(
            @NotNull String bucket,
            @NotNull String key,
            long size,
            @Alias("last_modified_date") Instant lastModified,
            @Alias("e_tag") String etag,
            @Alias("storage_class") String storageClass) {}

    private IndexWriter(String bucket, ReplacingFile file, CarpetWriter<WrittenRow> rows) {
        this.bucket = bucket;
        this.file = file;
        this.rows = rows;
    }

    /**
     * Begins a file.
     *
     * @param prefix of the listed keys; empty for all
     * @param listedAt when the listing began
     */
    public static IndexWriter create(Path path, String bucket, String prefix, Instant listedAt) throws IOException {
        ReplacingFile file = new ReplacingFile(path);
        try {
            CarpetWriter<WrittenRow> rows = new CarpetWriter.Builder<>(file.bytes(), WrittenRow.class)
                    .withCompressionCodec(CompressionCodecName.ZSTD)
                    .withRowGroupSize(ROW_GROUP)
                    .withDefaultTimeUnit(TimeUnit.MILLIS)
                    .withExtraMetaData(new IndexMetadata(listedAt, prefix).entries())
                    .build();
            return new IndexWriter(bucket, file, rows);
        } catch (Throwable e) {
            file.close();
            throw e;
        }
    }

    /** Adds an object. Its time is stored in whole milliseconds. */
    public void add(StoredObject object) throws IOException {
        checkIsOpen();
        ObjectVersion version = object.version();
        WrittenRow row = new WrittenRow(
                bucket,
                version.key(),
                version.size(),
                version.lastModified(),
                ETags.toInventory(version.etag()),
                object.storageClass());
        try {
            rows.write(row);
        } catch (LinkageError e) {
            throw IndexException.noCodec("", e);
        }
    }

    /** Completes the file, which replaces an earlier one. */
    public void finish() throws IOException {
        checkIsOpen();
        open = false;
        try (file) {
            rows.close();
            file.keep();
        } catch (LinkageError e) {
            throw IndexException.noCodec("", e);
        }
    }

    private void checkIsOpen() {
        if (!open) {
            throw new IllegalStateException("this index is finished, or closed");
        }
    }

    /** Leaves no file behind if it is not {@linkplain #finish finished}. */
    @Override
    public void close() throws IOException {
        if (open) {
            open = false;
            try (file) {
                rows.close(); // releases its other resources
            }
        }
    }
}
