package io.penstock.inventory;

import static java.nio.charset.StandardCharsets.UTF_8;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.QuoteStrategies;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.StoredObject;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;

/** Creates files as S3 Inventory delivers them. */
final class InventoryFiles {
    static final String BUCKET = "data";
    static final Instant TIME = Instant.parse("2026-11-24T01:02:03.456Z");
    private static final int FRACTION_MILLIS = 456;

    private InventoryFiles() {}

    /** A version of an object. */
    record Version(StoredObject object, String bucket, boolean latest, boolean deleteMarker) {
        static Version of(String key) {
            return of(InventoryFiles.object(key));
        }

        static Version of(StoredObject object) {
            return new Version(object, BUCKET, true, false);
        }

        Version former() {
            return new Version(object, bucket, false, deleteMarker);
        }

        Version deleted() {
            return new Version(object, bucket, latest, true);
        }

        Version in(String other) {
            return new Version(object, other, latest, deleteMarker);
        }
    }

    static StoredObject object(String key) {
        return new StoredObject(
                new ObjectVersion(
                        key, "\"0123456789abcdef0123456789abcdef\"", key.length(), TIME.minusMillis(FRACTION_MILLIS)),
                "GLACIER");
    }

    static Path parquet(Path file, CompressionCodecName codec, Version... versions) throws IOException {
        return parquet(file, codec, EnumSet.allOf(Column.class), versions);
    }

    /** Contains other columns, too. */
    static Path parquet(Path file, CompressionCodecName codec, Set<Column> columns, Version... versions)
            throws IOException {
        MessageType schema =
                MessageTypeParser.parseMessageType("message s3.inventory { optional binary version_id (STRING); "
                        + columns.stream().map(InventoryFiles::inParquet).collect(Collectors.joining(" "))
                        + " optional boolean is_multipart_uploaded; }");
        SimpleGroupFactory rows = new SimpleGroupFactory(schema);
        try (ParquetWriter<Group> writer = ExampleParquetWriter.builder(new LocalOutputFile(file))
                .withConf(new PlainParquetConfiguration())
                .withType(schema)
                .withCompressionCodec(codec)
                .build()) {
            for (Version version : versions) {
                Group row = rows.newGroup();
                columns.forEach(column -> put(version, column, row));
                writer.write(row);
            }
        }
        return file;
    }

    private static String inParquet(Column column) {
        return switch (column) {
            case BUCKET, KEY -> "required binary " + column.inParquet + " (STRING);";
            case IS_LATEST, IS_DELETE_MARKER -> "optional boolean " + column.inParquet + ";";
            case SIZE -> "optional int64 size;";
            case LAST_MODIFIED -> "optional int64 last_modified_date (TIMESTAMP(MILLIS,true));";
            case ETAG, STORAGE_CLASS -> "optional binary " + column.inParquet + " (STRING);";
        };
    }

    private static void put(Version version, Column column, Group row) {
        ObjectVersion object = version.object.version();
        String name = column.inParquet;
        switch (column) {
            case BUCKET -> row.add(name, version.bucket);
            case KEY -> row.add(name, object.key());
            case IS_LATEST -> row.add(name, version.latest);
            case IS_DELETE_MARKER -> row.add(name, version.deleteMarker);
            case SIZE, LAST_MODIFIED, ETAG, STORAGE_CLASS -> {
                if (version.deleteMarker) {
                    return; // null, as in Inventory's files
                } else if (column == Column.SIZE) {
                    row.add(name, object.size());
                } else if (column == Column.LAST_MODIFIED) {
                    row.add(name, object.lastModified().toEpochMilli() + FRACTION_MILLIS);
                } else if (column == Column.ETAG) {
                    row.add(name, ETags.toInventory(object.etag()));
                } else {
                    row.add(name, version.object.storageClass());
                }
            }
        }
    }

    static Path csv(Path file, Version... versions) throws IOException {
        return csv(file, EnumSet.allOf(Column.class), versions);
    }

    static Path csv(Path file, Set<Column> columns, Version... versions) throws IOException {
        List<List<String>> rows = new ArrayList<>();
        for (Version version : versions) {
            rows.add(columns.stream()
                    .map(column -> text(version, column))
                    .collect(Collectors.toCollection(ArrayList::new)));
            rows.getLast().add("false"); // IsMultipartUploaded
        }
        return csv(file, rows);
    }

    static Path csv(Path file, List<List<String>> rows) throws IOException {
        try (CsvWriter writer = CsvWriter.builder()
                .quoteStrategy(QuoteStrategies.ALWAYS)
                .build(new GZIPOutputStream(Files.newOutputStream(file)), UTF_8)) {
            rows.forEach(writer::writeRecord);
        }
        return file;
    }

    private static String text(Version version, Column column) {
        ObjectVersion object = version.object.version();
        return switch (column) {
            case BUCKET -> version.bucket;
            case KEY -> URLEncoder.encode(object.key(), UTF_8).replace("%2F", "/");
            case IS_LATEST -> Boolean.toString(version.latest);
            case IS_DELETE_MARKER -> Boolean.toString(version.deleteMarker);
            case SIZE -> version.deleteMarker ? "" : Long.toString(object.size());
            case LAST_MODIFIED ->
                object.lastModified().plusMillis(FRACTION_MILLIS).toString();
            case ETAG -> version.deleteMarker ? "" : ETags.toInventory(object.etag());
            case STORAGE_CLASS -> version.deleteMarker ? "" : version.object.storageClass();
        };
    }

    static String schema(Set<Column> columns) {
        return columns.stream().map(column -> column.inCsv).collect(Collectors.joining(", ")) + ", IsMultipartUploaded";
    }

    /** Lists the files as if Inventory had delivered them. */
    static Path manifest(Path file, String bucket, String format, String schema, List<Path> files) throws IOException {
        List<String> entries = new ArrayList<>();
        for (Path each : files) {
            entries.add("{\"key\": \"reports/%s/daily/data/%s\", \"size\": %d, \"MD5checksum\": \"d41d8cd9\"}"
                    .formatted(bucket, each.getFileName(), Files.size(each)));
        }
        Files.createDirectories(file.getParent());
        return Files.writeString(
                file, """
                    {
                      "sourceBucket": "%s",
                      "destinationBucket": "arn:aws:s3:::reports",
                      "version": "2016-11-30",
                      "creationTimestamp": "%d",
                      "fileFormat": "%s",
                      "fileSchema": "%s",
                      "files": [%s]
                    }
                    """.formatted(bucket, TIME.toEpochMilli(), format, schema, String.join(", ", entries)));
    }

    /** Reads all objects of the index. */
    static List<StoredObject> read(Path index) throws IOException, InterruptedException {
        return read(index, "");
    }

    static List<StoredObject> read(Path index, String prefix) throws IOException, InterruptedException {
        List<StoredObject> objects = new ArrayList<>();
        Index.open(index, BUCKET, prefix).read(objects::add);
        return objects;
    }
}
