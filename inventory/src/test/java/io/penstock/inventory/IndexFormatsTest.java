package io.penstock.inventory;

import static io.penstock.inventory.InventoryFiles.BUCKET;
import static io.penstock.inventory.InventoryFiles.TIME;
import static io.penstock.inventory.InventoryFiles.csv;
import static io.penstock.inventory.InventoryFiles.manifest;
import static io.penstock.inventory.InventoryFiles.object;
import static io.penstock.inventory.InventoryFiles.parquet;
import static io.penstock.inventory.InventoryFiles.read;
import static io.penstock.inventory.InventoryFiles.schema;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.inventory.InventoryFiles.Version;
import io.penstock.objectstore.StoredObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** S3 Inventory's files are read as delivered; unusable ones are refused with an explanation. */
@Timeout(60)
class IndexFormatsTest {
    private static final Set<Column> ALL = EnumSet.allOf(Column.class);

    private static final List<String> ODD_KEYS = List.of(
            "plain",
            "with space",
            "with+plus",
            "100%25",
            "a//b",
            "/lead",
            "é/€/😀",
            "quote\"s,commas",
            "line\nbreak",
            "\u0001");

    @TempDir
    private Path folder;

    private static void assertRefused(ThrowingCallable call, String... words) {
        assertThatThrownBy(call).isInstanceOf(IndexException.class).hasMessageContainingAll(words);
    }

    private static Version[] versions(List<String> keys) {
        return keys.stream().map(Version::of).toArray(Version[]::new);
    }

    private static List<StoredObject> objects(List<String> keys) {
        return keys.stream().map(InventoryFiles::object).toList();
    }

    private Path csvManifest(Version... versions) throws IOException {
        Files.createDirectories(folder.resolve("data"));
        Path file = csv(folder.resolve("data/1.csv.gz"), versions);
        return manifest(folder.resolve("2026-11-24T01-00Z/manifest.json"), BUCKET, "CSV", schema(ALL), List.of(file));
    }

    @ParameterizedTest
    @EnumSource(
            value = CompressionCodecName.class,
            names = {"UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD"})
    void read_parquet_hasTheObjectsToTheLetter(CompressionCodecName codec) throws Exception {
        Path file = parquet(folder.resolve("x"), codec, versions(ODD_KEYS));

        assertThat(read(file)).isEqualTo(objects(ODD_KEYS));
    }

    @Test
    void open_noSuchFile_saysWhatToName(@TempDir Path folder) {
        assertThatThrownBy(() -> Index.open(folder.resolve("none"), "bucket", ""))
                .isInstanceOf(IndexException.class)
                .hasMessageContainingAll("none", "penstock index export");
    }

    @ParameterizedTest
    @ValueSource(strings = {"junk\nof two lines", "[]", "{\"sourceBucket\": \"a\"", "\u0000"})
    void open_neitherOfTheFormats_saysInALineWhatToName(String content) throws Exception {
        Path file = Files.writeString(folder.resolve("junk"), content);

        assertThatThrownBy(() -> Index.open(file, BUCKET, ""))
                .isInstanceOf(IndexException.class)
                .hasMessage("'" + file + "' is neither a Parquet file nor a complete manifest.json of an S3 Inventory:"
                        + " name a file made by penstock index export, or copy the manifest.json again");
    }

    @Test
    void read_csv_hasTheObjectsToTheLetter() throws Exception {
        Path manifest = csvManifest(versions(ODD_KEYS));

        assertThat(read(manifest)).isEqualTo(objects(ODD_KEYS));
        assertThat(Index.open(manifest, BUCKET, "").asOf()).isEqualTo(Instant.ofEpochMilli(TIME.toEpochMilli()));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void read_versions_hasOnlyWhatAListingShows(boolean asParquet) throws Exception {
        Version[] versions = {
            Version.of("a").former(),
            Version.of("a"),
            Version.of("b").deleted(),
            Version.of("b").former(),
            Version.of("c").former().deleted(),
            Version.of("c")
        };
        Path file =
                asParquet ? parquet(folder.resolve("x"), CompressionCodecName.SNAPPY, versions) : csvManifest(versions);

        assertThat(read(file)).containsExactly(object("a"), object("c"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void read_onlyTheColumnsThatAreNeeded_areEnough(boolean asParquet) throws Exception {
        Set<Column> needed = EnumSet.of(Column.BUCKET, Column.KEY, Column.SIZE, Column.LAST_MODIFIED, Column.ETAG);
        Path file;
        if (asParquet) {
            file = parquet(folder.resolve("x"), CompressionCodecName.SNAPPY, needed, Version.of("a"));
        } else {
            Path data = csv(folder.resolve("1.csv.gz"), needed, Version.of("a"));
            file = manifest(folder.resolve("manifest.json"), BUCKET, "CSV", schema(needed), List.of(data));
        }

        assertThat(read(file)).containsExactly(new StoredObject(object("a").version(), "STANDARD"));
    }

    @ParameterizedTest
    @CsvSource({"SIZE,Size", "LAST_MODIFIED,LastModifiedDate", "ETAG,ETag", "KEY,Key", "BUCKET,Bucket"})
    void open_columnIsMissing_namesItAndWhatToDo(Column missing, String name) throws Exception {
        Set<Column> columns = EnumSet.complementOf(EnumSet.of(missing));
        Path parquet = parquet(folder.resolve("x"), CompressionCodecName.SNAPPY, columns, Version.of("a"));
        Path data = csv(folder.resolve("1.csv.gz"), columns, Version.of("a"));
        Path csv = manifest(folder.resolve("manifest.json"), BUCKET, "CSV", schema(columns), List.of(data));

        assertRefused(() -> Index.open(parquet, BUCKET, ""), parquet.toString(), "no column " + name, "Inventory");
        assertRefused(() -> Index.open(csv, BUCKET, ""), data.toString(), "no column " + name, "Inventory");
    }

    @ParameterizedTest
    @ValueSource(strings = {"../data", "data", "."})
    void open_filesOfAManifest_areFoundWhereTheyAreCopiedTo(String where) throws Exception {
        Path manifest = folder.resolve("daily/2026-11-24T01-00Z/manifest.json");
        Files.createDirectories(manifest.getParent());
        Path data = Files.createDirectories(manifest.resolveSibling(where)).toRealPath();
        List<Path> files = List.of(
                parquet(data.resolve("1.parquet"), CompressionCodecName.SNAPPY, Version.of("b")),
                parquet(data.resolve("2.parquet"), CompressionCodecName.SNAPPY, Version.of("a")));
        manifest(manifest, BUCKET, "Parquet", "message s3.inventory {}", files);

        assertThat(read(manifest)).containsExactly(object("b"), object("a"));
    }

    @Test
    void open_fileOfAManifestIsMissing_tellsWhereItWasLookedFor() throws Exception {
        Path manifest = csvManifest(Version.of("a"));
        Files.delete(folder.resolve("data/1.csv.gz"));

        assertRefused(
                () -> Index.open(manifest, BUCKET, ""),
                "reports/data/daily/data/1.csv.gz",
                folder.resolve("data/1.csv.gz").toString(),
                manifest.resolveSibling("data/1.csv.gz").toString(),
                manifest.resolveSibling("1.csv.gz").toString());
    }

    @Test
    void read_fileOfAManifestHasGoneSince_isNamedWithTheReason() throws Exception {
        Path manifest = csvManifest(Version.of("a"));
        Index index = Index.open(manifest, BUCKET, "");
        Path data = folder.resolve("data/1.csv.gz");
        Files.delete(data);

        assertRefused(() -> index.read(_ -> {}), "1.csv.gz' cannot be read: no such file;");
    }

    @Test
    void unreadable_noPermission_saysSoAndAdvisesNoNewIndex() {
        Path file = folder.resolve("index.parquet");

        assertThat(IndexException.unreadable(file, new AccessDeniedException(file.toString())))
                .hasMessage("'" + file + "' cannot be read: permission denied");
    }

    @Test
    void open_fileOfAManifestIsShorter_isRefused() throws Exception {
        Path manifest = csvManifest(Version.of("a"));
        Path data = folder.resolve("data/1.csv.gz");
        byte[] bytes = Files.readAllBytes(data);
        Files.write(data, Arrays.copyOf(bytes, bytes.length - 1));

        assertRefused(() -> Index.open(manifest, BUCKET, ""), data.toString(), "copy it again");
    }

    @Test
    void open_otherBucket_isRefused() throws Exception {
        Path parquet = parquet(folder.resolve("x"), CompressionCodecName.SNAPPY, Version.of("a"));
        Path csv = csvManifest(Version.of("a"));

        assertRefused(() -> Index.open(parquet, "other", ""), parquet.toString(), "'data'", "'other'");
        assertRefused(() -> Index.open(csv, "other", ""), csv.toString(), "'data'", "'other'");
    }

    @Test
    void read_rowOfAnotherBucket_isRefusedWithItsNumber() throws Exception {
        Path parquet = parquet(
                folder.resolve("x"),
                CompressionCodecName.SNAPPY,
                Version.of("a"),
                Version.of("b").in("other"));
        Path csv = csvManifest(Version.of("a"), Version.of("b").in("other"));

        assertRefused(() -> read(parquet), parquet.toString(), "row 2", "'other'");
        assertRefused(() -> read(csv), "1.csv.gz", "row 2", "'other'");
    }

    @Test
    void read_prefix_hasOnlyWhatBeginsSo() throws Exception {
        Path csv = csvManifest(versions(List.of("b/1", "a/2", "a/1", "a", "a0")));

        assertThat(read(csv, "a/")).containsExactly(object("a/2"), object("a/1"));
    }

    @Test
    void open_orc_isRefused() throws Exception {
        Path data = Files.writeString(folder.resolve("1.orc"), "ORC");
        Path manifest = manifest(folder.resolve("manifest.json"), BUCKET, "ORC", "struct<>", List.of(data));

        assertRefused(() -> Index.open(manifest, BUCKET, ""), manifest.toString(), "ORC", "Parquet or CSV");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[]", "hello", "\"a\",\"b\"", "{\"files\": 1", "{}", "\u001f\u008b"})
    void open_neitherParquetNorManifest_isRefused(String content) throws Exception {
        Path file = Files.writeString(folder.resolve("x"), content, StandardCharsets.ISO_8859_1);

        assertRefused(() -> Index.open(file, BUCKET, ""), file.toString(), "manifest.json of an S3 Inventory");
    }

    @ParameterizedTest
    @CsvSource({
        "2,many",
        "3,yesterday",
        "4,''",
        "1,%zz",
        "1,%ff",
        "1,''",
        "2,-1",
    })
    void read_damagedValueInCsv_isRefusedWithFileAndRow(int place, String value) throws Exception {
        List<String> good = List.of(BUCKET, "key", "1", TIME.toString(), "abc");
        List<String> bad = new ArrayList<>(good);
        bad.set(place, value);
        Path data = csv(folder.resolve("1.csv.gz"), List.of(good, bad));
        Path manifest = manifest(
                folder.resolve("manifest.json"),
                BUCKET,
                "CSV",
                "Bucket, Key, Size, LastModifiedDate, ETag",
                List.of(data));

        assertRefused(() -> read(manifest), data.toString(), "damaged in row 2");
    }

    @Test
    void read_csvRowTooShort_isRefusedWithFileAndRow() throws Exception {
        Path data = csv(folder.resolve("1.csv.gz"), List.of(List.of(BUCKET, "key")));
        Path manifest = manifest(folder.resolve("manifest.json"), BUCKET, "CSV", schema(ALL), List.of(data));

        assertRefused(() -> read(manifest), data.toString(), "damaged in row 1");
    }

    @Test
    void read_csvCutOff_isRefusedWithFileAndRow() throws Exception {
        List<Version> versions = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            versions.add(Version.of(Integer.toHexString(i * 0x9e3779b9)));
        }
        Path data = csv(folder.resolve("1.csv.gz"), versions.toArray(Version[]::new));
        byte[] bytes = Files.readAllBytes(data);
        Files.write(data, Arrays.copyOf(bytes, bytes.length / 2));
        Path manifest = manifest(folder.resolve("manifest.json"), BUCKET, "CSV", schema(ALL), List.of(data));

        assertRefused(() -> read(manifest), data.toString(), "damaged in row ", "Unexpected end of ZLIB input stream");
    }

    @Test
    void read_parquetThatIsDamaged_isRefusedWithTheFile() throws Exception {
        List<Version> versions = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            versions.add(Version.of(Integer.toHexString(i * 0x9e3779b9)));
        }
        Path file = parquet(folder.resolve("x"), CompressionCodecName.ZSTD, versions.toArray(Version[]::new));
        byte[] good = Files.readAllBytes(file);

        Files.write(file, Arrays.copyOf(good, good.length / 2));
        assertRefused(() -> read(file), file.toString());

        byte[] bad = good.clone();
        Arrays.fill(bad, 1_000, 3_000, (byte) 0x55);
        Files.write(file, bad);
        assertRefused(() -> read(file), file.toString());
    }

    /** Uncompressed, so that only the pages' checksums can reveal it. */
    @Test
    void read_parquetWithABitFlippedInAKey_isRefused() throws Exception {
        String key = "a key that nobody else has";
        Path file = parquet(folder.resolve("x"), CompressionCodecName.UNCOMPRESSED, Version.of(key), Version.of("b"));
        byte[] bytes = Files.readAllBytes(file);
        int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(key);
        bytes[at + 5] ^= 1;
        Files.write(file, bytes);

        assertRefused(() -> read(file), file.toString(), "CRC");
    }

    @Test
    void asOf_parquetOfAnotherProgram_isTheFilesTime() throws Exception {
        Path file = parquet(folder.resolve("x"), CompressionCodecName.SNAPPY, Version.of("a"));
        Files.setLastModifiedTime(file, FileTime.from(TIME));

        assertThat(Index.open(file, BUCKET, "").asOf()).isEqualTo(TIME);
    }

    @Test
    @SuppressWarnings("Interruption")
    void read_interrupted_throws() throws Exception {
        List<Version> versions = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            versions.add(Version.of("k" + i));
        }
        Index index = Index.open(csvManifest(versions.toArray(Version[]::new)), BUCKET, "");
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> index.read(object -> {})).isInstanceOf(InterruptedException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void read_noFiles_hasNothing() throws Exception {
        Path manifest = manifest(folder.resolve("manifest.json"), BUCKET, "CSV", schema(ALL), List.of());

        assertThat(read(manifest)).isEmpty();
    }
}
