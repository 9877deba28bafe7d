package io.penstock.listing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.RandomKeys;
import io.penstock.testing.Seeded;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A table read from a file equals the written one, and an incomplete file is never accepted. */
@Timeout(120)
class KeyTableFileTest {
    private static final String OWNER = "minio.example.com:9000/data imgs/";
    private static final long MILLI = Duration.ofMillis(1).toNanos();

    /** Pages of random tables have times close to this one; nano clocks may overflow. */
    private static final long NANOS = Long.MAX_VALUE + 5_000;

    @TempDir
    Path folder;

    /** The clocks of a process. */
    private record Clocks(Instant wall, long nanos) {
        Clocks after(Duration duration, long nanosOfNextProcess) {
            return new Clocks(wall.plus(duration), nanosOfNextProcess);
        }

        long age(long time) {
            return nanos - time;
        }
    }

    private static Clocks clocks(RandomGenerator random) {
        return new Clocks(Instant.ofEpochSecond(1_800_000_000, random.nextInt(1_000_000_000)), NANOS);
    }

    private Path path() {
        return folder.resolve("snapshot");
    }

    private KeyTableFile file(Clocks clocks) {
        return new KeyTableFile(path(), OWNER, clocks::nanos, clocks::wall);
    }

    private KeyTableFile file() {
        return file(clocks(Seeded.random(1)));
    }

    private static KeyTables model(RandomGenerator random, int most) {
        List<StoredObject> objects = RandomKeys.set(random, most).stream()
                .map(key -> KeyTables.object(random, key))
                .toList();
        return new KeyTables(random, objects);
    }

    // ---- the written file

    @Test
    void open_ofWhatWasWritten_answersAllTheSame() {
        Seeded.check(150, random -> {
            KeyTables model = model(random, 300);
            Clocks before = clocks(random);
            Duration between =
                    Duration.ofNanos(random.nextLong(Duration.ofDays(9).toNanos()));
            Clocks after = before.after(between, random.nextLong());
            try (KeyTable written = model.build()) {
                file(before).write(written);
                try (KeyTable opened = file(after).open()) {
                    assertThat(opened.size()).isEqualTo(written.size());
                    assertThat(opened.pageCount()).isEqualTo(written.pageCount());
                    Ages ages = new Ages(before, after, between);
                    checkWalk(written, opened, ages);
                    checkSeeks(random, model, written, opened, ages);
                }
            }
        });
    }

    /** The expected increase of the pages' ages. */
    private record Ages(Clocks before, Clocks after, Duration between) {
        void check(long written, long opened) {
            long expected = before.age(written) + between.toNanos();
            assertThat(after.age(opened)).isBetween(expected, expected + MILLI - 1);
        }
    }

    private static void checkWalk(KeyTable written, KeyTable opened, Ages ages) {
        KeyCursor expected = written.cursor();
        KeyCursor cursor = opened.cursor();
        while (expected.next()) {
            assertThat(cursor.next()).isTrue();
            assertThat(cursor.object()).isEqualTo(expected.object());
            ages.check(expected.asOf(), cursor.asOf());
            ages.check(expected.asOfGap(), cursor.asOfGap());
        }
        assertThat(cursor.next()).isFalse();
        ages.check(expected.asOfGap(), cursor.asOfGap());
    }

    private static void checkSeeks(
            RandomGenerator random, KeyTables model, KeyTable written, KeyTable opened, Ages ages) {
        List<String> keys =
                model.objects.stream().map(object -> object.version().key()).toList();
        for (int i = 0; i < 20; i++) {
            String key = random.nextBoolean() ? RandomKeys.near(random, keys) : RandomKeys.folder(random, keys);
            KeyCursor expected = written.cursor();
            KeyCursor cursor = opened.cursor();
            assertThat(cursor.seek(key)).isEqualTo(expected.seek(key));
            if (expected.isAtKey()) {
                assertThat(cursor.object()).isEqualTo(expected.object());
                ages.check(expected.asOf(), cursor.asOf());
            }
            ages.check(expected.asOfGap(), cursor.asOfGap());
        }
    }

    @Test
    void open_ofSeveralChunks_hasAll() throws Exception {
        try (KeyTable written = large()) {
            assertThat(written.chunkCount()).isGreaterThan(3);
            file().write(written);
            try (KeyTable opened = file().open()) {
                assertThat(walked(opened)).isEqualTo(walked(written)).hasSize((int) written.size());
            }
        }
    }

    @Test
    void open_ofAnEmptyTable_isEmptyAndHasATime() throws Exception {
        KeyTableBuilder builder = new KeyTableBuilder();
        builder.page(NANOS);
        try (KeyTable written = KeyTable.join(List.of(builder))) {
            file().write(written);
        }
        try (KeyTable opened = file().open()) {
            KeyCursor cursor = opened.cursor();

            assertThat(cursor.next()).isFalse();
            assertThat(NANOS - cursor.asOfGap()).isBetween(0L, MILLI);
        }
    }

    @Test
    void write_ofAnOpenedTable_isAsTheFirst() throws Exception {
        try (KeyTable written = large()) {
            file().write(written);
            try (KeyTable opened = file().open()) {
                file().write(opened); // over the mapped file
                assertThat(walked(opened)).isEqualTo(walked(written));
            }
            try (KeyTable again = file().open()) {
                assertThat(walked(again)).isEqualTo(walked(written));
            }
        }
    }

    /** If this fails, raise the version in KeyTableFile: files of earlier versions must not be read. */
    @Test
    void write_ofAKnownTable_isOfTheFormatOfThisVersion() throws Exception {
        KeyTableBuilder builder = new KeyTableBuilder();
        builder.page(NANOS);
        for (int i = 0; i < 40; i++) {
            String etag = i % 3 == 0 ? "\"any\"" : "\"" + "0123456789abcdef".repeat(2) + (i % 3 == 1 ? "\"" : "-7\"");
            builder.add(new StoredObject(
                    new ObjectVersion("imgs/%05d.jpg".formatted(i), etag, 1L << i, Instant.ofEpochMilli(i * 700L)),
                    "CLASS_" + i));
        }
        builder.page(NANOS);
        try (KeyTable table = KeyTable.join(List.of(builder))) {
            file(new Clocks(Instant.EPOCH, NANOS)).write(table);
        }

        CRC32C sum = new CRC32C();
        sum.update(Files.readAllBytes(path()));
        assertThat(HexFormat.of().toHexDigits((int) sum.getValue())).isEqualTo("2ebed920");
    }

    @Test
    void bytes_ofAMappedTable_isItsHeap() throws Exception {
        try (KeyTable written = large()) {
            file().write(written);
            try (KeyTable opened = file().open()) {
                assertThat(opened.bytes()).isBetween(8L * opened.blockCount(), written.bytes() / 10);
            }
        }
    }

    // ---- damage

    @Test
    void open_ofADamagedFile_neverAnswersWrongly() {
        Seeded.check(60, random -> {
            try (KeyTable table = model(random, 100).build()) {
                file(clocks(random)).write(table);
            }
            byte[] whole = Files.readAllBytes(path());
            for (int i = 0; i < 40; i++) {
                Files.write(path(), damaged(random, whole));

                assertThat(failureOfReading()).isInstanceOf(DamagedSnapshotException.class);
            }
            Files.write(path(), whole);
            assertThatCode(this::readAll).doesNotThrowAnyException();
        });
    }

    /** Checksums cover every byte, so any may change. */
    private static byte[] damaged(RandomGenerator random, byte[] whole) {
        byte[] bytes = whole.clone();
        int at = random.nextInt(bytes.length);
        switch (random.nextInt(5)) {
            case 0 -> bytes = Arrays.copyOf(bytes, at);
            case 1 -> bytes = Arrays.copyOf(bytes, bytes.length + random.nextInt(1, 5_000));
            case 2 -> { // a part was never written
                Arrays.fill(bytes, at, Math.min(bytes.length, at + random.nextInt(1, 5_000)), (byte) 0);
                bytes[at] = (byte) (whole[at] + 1);
            }
            default -> bytes[at] ^= (byte) (1 << random.nextInt(8));
        }
        return bytes;
    }

    private void readAll() throws IOException {
        try (KeyTable table = file().open()) {
            walked(table);
        }
    }

    private @Nullable IOException failureOfReading() {
        try {
            readAll();
            return null;
        } catch (UncheckedIOException e) {
            return e.getCause();
        } catch (IOException e) {
            return e;
        }
    }

    @Test
    void open_ofAForgedIndex_refusesItOrStaysWithinItsBounds() {
        Seeded.check(60, random -> {
            try (KeyTable table = model(random, 100).build()) {
                file(clocks(random)).write(table);
            }
            byte[] whole = Files.readAllBytes(path());
            for (int i = 0; i < 60; i++) {
                Files.write(path(), SnapshotBytes.forged(random, whole));
                try (KeyTable table = file().open()) {
                    checkBounds(table);
                } catch (DamagedSnapshotException e) {
                    assertThat(e).hasMessageContaining(path().toString());
                } catch (UncheckedIOException e) {
                    assertThat(e).hasCauseInstanceOf(DamagedSnapshotException.class);
                }
            }
        });
    }

    private static void checkBounds(KeyTable table) {
        for (int block = 0; block < table.blockCount(); block++) {
            int length = table.length(block);
            assertThat(length).isPositive();
            assertThat((long) table.offset(block) + length)
                    .isLessThanOrEqualTo(table.chunk(block).memory().byteSize());
        }
        for (int page = 1; page < table.pageCount(); page++) {
            assertThat(table.pageStart(page)).isGreaterThanOrEqualTo(table.pageStart(page - 1));
        }
    }

    @Test
    void read_ofADamagedChunk_throwsEachTimeAndSparesTheOthers() throws Exception {
        writeLarge();
        byte[] bytes = Files.readAllBytes(path());
        bytes[SnapshotBytes.indexAt(bytes) - 1] ^= 1; // the end of the last chunk
        Files.write(path(), bytes);

        try (KeyTable table = file().open()) {
            KeyCursor cursor = table.cursor();
            assertThat(cursor.next()).isTrue();
            assertThat(cursor.key()).isEqualTo(key(0));
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> cursor.seek(key(LARGE - 1)))
                        .isInstanceOf(UncheckedIOException.class)
                        .cause()
                        .isInstanceOf(DamagedSnapshotException.class)
                        .hasMessageContaining(path().toString());
            }
            assertThat(table.cursor().next()).isTrue();
        }
    }

    @Test
    void read_ofWhatIsCutOffMeanwhile_throws() throws Exception {
        writeLarge();
        try (KeyTable table = file().open();
                FileChannel channel = FileChannel.open(path(), StandardOpenOption.WRITE)) {
            channel.truncate(4096);

            assertThatThrownBy(() -> walked(table))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasCauseInstanceOf(DamagedSnapshotException.class);
        }
    }

    @Test
    void open_ofAnotherOwnersFile_namesBoth() throws Exception {
        writeLarge();
        KeyTableFile other = new KeyTableFile(path(), "aws/other", System::nanoTime, InstantSource.system());

        assertThatThrownBy(other::open)
                .isInstanceOf(DamagedSnapshotException.class)
                .hasMessageContaining("'" + OWNER + "'")
                .hasMessageContaining("'aws/other'");
        assertThat(maps()).doesNotContain(path().toString());
    }

    @Test
    void open_ofAnotherVersionsFile_namesBoth() throws Exception {
        writeLarge();
        byte[] bytes = Files.readAllBytes(path());
        bytes[Long.BYTES + 3] = 77;
        Files.write(path(), bytes);

        assertThatThrownBy(file()::open)
                .isInstanceOf(DamagedSnapshotException.class)
                .hasMessageContaining("format 77");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 7, 8, 35, 36, 5_000})
    void open_ofWhatIsNone_saysSo(int length) throws Exception {
        Files.write(path(), new byte[length]);

        assertThatThrownBy(file()::open)
                .isInstanceOf(DamagedSnapshotException.class)
                .hasMessageContaining(path().toString());
    }

    @Test
    void open_ofNoFile_throwsNoSuchFile() {
        assertThatThrownBy(file()::open).isInstanceOf(NoSuchFileException.class);
    }

    // ---- writing that fails

    @Test
    void write_afterACrash_isPrivateAndLeavesNothingBeside() throws Exception {
        Files.writeString(folder.resolve("snapshot.tmp"), "what a crash has left");
        Files.writeString(path(), "the former");
        writeLarge();

        assertThat(files()).containsExactly(path());
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path())))
                .isEqualTo("rw-------");
        readAll();
    }

    @Test
    void write_interruptedMidway_leavesTheFormer() throws Exception {
        writeLarge();
        byte[] former = Files.readAllBytes(path());
        KeyTableFile interrupted = new KeyTableFile(path(), OWNER, () -> NANOS, () -> {
            Thread.currentThread().interrupt();
            return Instant.EPOCH;
        });
        try (KeyTable table = large()) {
            assertThatThrownBy(() -> interrupted.write(table)).isInstanceOf(ClosedByInterruptException.class);
        }

        assertThat(Thread.interrupted()).isTrue();
        assertThat(Files.readAllBytes(path())).isEqualTo(former);
        assertThat(files()).containsExactly(path());
    }

    @Test
    void write_toAFolderThatVanishes_throws() throws Exception {
        Path sub = Files.createDirectory(folder.resolve("sub"));
        Path gone = folder.resolve("gone");
        KeyTableFile file = new KeyTableFile(sub.resolve("snapshot"), OWNER, () -> NANOS, () -> {
            moveAway(sub, gone);
            return Instant.EPOCH;
        });
        Files.writeString(sub.resolve("snapshot"), "the former");

        try (KeyTable table = large()) {
            assertThatThrownBy(() -> file.write(table)).isInstanceOf(NoSuchFileException.class);
        }
        assertThat(gone.resolve("snapshot")).hasContent("the former");
    }

    private static void moveAway(Path from, Path to) {
        try {
            Files.move(from, to);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void write_ofADamagedTable_throwsAndLeavesTheFormer() throws Exception {
        writeLarge();
        byte[] bytes = Files.readAllBytes(path());
        bytes[SnapshotBytes.indexAt(bytes) - 1] ^= 1;
        Files.write(path(), bytes);

        try (KeyTable table = file().open()) {
            assertThatThrownBy(() -> file().write(table)).isInstanceOf(DamagedSnapshotException.class);
        }
        assertThat(Files.readAllBytes(path())).isEqualTo(bytes);
        assertThat(files()).containsExactly(path());
    }

    @Test
    void write_ofAClosedTable_throwsAndLeavesTheFormer() throws Exception {
        writeLarge();
        KeyTable table = large();
        table.close();

        assertThatThrownBy(() -> file().write(table)).isInstanceOf(IllegalStateException.class);
        assertThat(files()).containsExactly(path());
        readAll();
    }

    // ---- closing

    @Test
    void close_freesTheMap() throws Exception {
        writeLarge();
        KeyTable table = file().open();
        KeyCursor cursor = table.cursor();
        cursor.next();
        assertThat(maps()).contains(path().toString());

        table.close();
        table.close();

        assertThat(maps()).doesNotContain(path().toString());
        assertThatThrownBy(() -> cursor.seek(key(LARGE - 1))).isInstanceOf(IllegalStateException.class);
    }

    /** Both for the first read of a chunk and for writing it to a file. */
    @Test
    void close_whileOthersReadAndWrite_endsThemCleanly() throws Exception {
        writeLarge();
        for (int i = 0; i < 30; i++) {
            KeyTable table = file().open();
            List<Throwable> ends = Collections.synchronizedList(new ArrayList<>());
            CountDownLatch begun = new CountDownLatch(3);
            Path copy = folder.resolve("copy");
            KeyTableFile other = new KeyTableFile(copy, OWNER, System::nanoTime, InstantSource.system());
            List<Thread> threads = List.of(
                    thread(ends, begun, () -> walked(table)),
                    thread(ends, begun, () -> table.cursor().seek(key(LARGE / 2))),
                    thread(ends, begun, () -> other.write(table)));
            begun.await();

            table.close();

            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(ends).hasSize(3).allMatch(e -> e instanceof IllegalStateException);
        }
    }

    private interface Action {
        void run() throws IOException;
    }

    /** Repeats the action until it fails. */
    private static Thread thread(List<Throwable> ends, CountDownLatch begun, Action action) {
        return Thread.ofPlatform().start(() -> {
            begun.countDown();
            try {
                while (true) {
                    action.run();
                }
            } catch (IOException | RuntimeException e) {
                ends.add(e);
            }
        });
    }

    // ---- tables and files

    private static final int LARGE = 40_000;

    private static String key(int i) {
        return "imgs/%05d/%09d.jpg".formatted(i / 1_000, i);
    }

    /** A table of several chunks. */
    private static KeyTable large() {
        RandomGenerator random = Seeded.random(1);
        KeyTableBuilder builder = new KeyTableBuilder();
        for (int i = 0; i < LARGE; i++) {
            if (i % 1_000 == 0) {
                builder.page(NANOS - i);
            }
            builder.add(KeyTables.object(random, key(i)));
        }
        return KeyTable.join(List.of(builder));
    }

    private void writeLarge() throws IOException {
        try (KeyTable table = large()) {
            file().write(table);
        }
    }

    private static List<StoredObject> walked(KeyTable table) {
        List<StoredObject> objects = new ArrayList<>();
        for (KeyCursor cursor = table.cursor(); cursor.next(); ) {
            objects.add(cursor.object());
        }
        return objects;
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    private static String maps() throws IOException {
        return Files.readString(Path.of("/proc/self/maps"));
    }
}
