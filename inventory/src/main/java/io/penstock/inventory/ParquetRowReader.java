package io.penstock.inventory;

import com.jerolba.carpet.CarpetReader;
import com.jerolba.carpet.CloseableIterator;
import com.jerolba.carpet.annotation.Alias;
import com.jerolba.carpet.io.FileSystemInputFile;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.FileMetaData;
import org.apache.parquet.schema.MessageType;
import org.jspecify.annotations.Nullable;

/** Reads a Parquet file with the columns of S3 Inventory; other columns are ignored. */
final class ParquetRowReader implements RowReader {
    private final Path path;
    private final CloseableIterator<ReadRow> rows;
    private long number;

    /** Null represents a missing value. */
    record ReadRow(
            @Nullable String bucket,
            @Nullable String key,
            @Alias("is_latest") @Nullable Boolean isLatest,
            @Alias("is_delete_marker") @Nullable Boolean isDeleteMarker,
            @Nullable Long size,
            @Alias("last_modified_date") @Nullable Instant lastModified,
            @Alias("e_tag") @Nullable String etag,
            @Alias("storage_class") @Nullable String storageClass) {}

    private ParquetRowReader(Path path, CloseableIterator<ReadRow> rows) {
        this.path = path;
        this.rows = rows;
    }

    /** Penstock's own notes in the file; empty if Penstock did not write it. */
    static IndexMetadata metadata(Path path) throws IOException {
        return IndexMetadata.of(footer(path).getKeyValueMetaData());
    }

    static ParquetRowReader open(Path path) throws IOException {
        Column.checkNeeded(columns(footer(path).getSchema()), path);
        try {
            return new ParquetRowReader(
                    path,
                    new CarpetReader.Builder<>(path.toFile(), ReadRow.class)
                            .failOnMissingColumn(false)
                            .usePageChecksumVerification()
                            .build()
                            .iterator());
        } catch (RuntimeException e) {
            throw IndexException.unreadable(path, e);
        } catch (LinkageError e) {
            throw IndexException.noCodec("'" + path + "' cannot be read: ", e);
        }
    }

    private static FileMetaData footer(Path path) throws IOException {
        try (ParquetFileReader file = ParquetFileReader.open(new FileSystemInputFile(path.toFile()))) {
            return file.getFileMetaData();
        } catch (IOException | RuntimeException e) {
            throw IndexException.unreadable(path, e);
        }
    }

    private static Set<Column> columns(MessageType schema) {
        Set<Column> columns = EnumSet.noneOf(Column.class);
        for (Column column : Column.values()) {
            if (schema.containsField(column.inParquet)) {
                columns.add(column);
            }
        }
        return columns;
    }

    @Override
    public @Nullable InventoryRow next() throws IOException {
        number++;
        try {
            return rows.hasNext() ? row(rows.next()) : null;
        } catch (RuntimeException e) {
            throw IndexException.damaged(path, number, e);
        }
    }

    private InventoryRow row(ReadRow row) {
        return new InventoryRow(
                number,
                row.bucket == null ? "" : row.bucket,
                row.key == null ? "" : row.key,
                !Boolean.FALSE.equals(row.isLatest) && !Boolean.TRUE.equals(row.isDeleteMarker),
                row.size,
                row.lastModified,
                row.etag,
                row.storageClass);
    }

    @Override
    public void close() throws IOException {
        rows.close();
    }
}
