package io.penstock.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** What a log returns of the records given to it, durable or not. */
@Timeout(60)
@ParameterizedClass
@ValueSource(booleans = {false, true})
final class RecordLogTest {
    private static final List<String> RECORDS = List.of("one", "two", "", "a longer one", "5");
    private static final String NAME = "log";

    private final boolean durable;
    private final RecordLog.Format<String> format;
    private DataFolder files;

    @TempDir
    Path directory;

    RecordLogTest(boolean durable) {
        this.durable = durable;
        this.format = new RecordLog.Format<>(4711, durable, 4096, RecordLogTest::encode, RecordLogTest::decode);
    }

    private static void encode(String record, DataOutputStream to) throws IOException {
        to.writeByte(7);
        to.write(record.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }

    private static String decode(DataInputStream from) throws IOException {
        byte type = from.readByte();
        if (type != 7) {
            throw new IOException("unknown record type: " + type);
        }
        return new String(from.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    }

    @BeforeEach
    void open() throws IOException {
        files = new LocalFolder(directory, _ -> true, false, null);
    }

    private Path path() {
        return directory.resolve(NAME);
    }

    private RecordLog<String> log(DataFolder in, String... records) throws IOException {
        RecordLog<String> log = RecordLog.create(in, NAME, format);
        for (String record : records) {
            log.append(record);
        }
        return log;
    }

    private RecordLog<String> written() throws IOException {
        return log(files, RECORDS.toArray(String[]::new));
    }

    private List<String> replayed() throws IOException {
        List<String> records = new ArrayList<>();
        try (RecordLog<String> log = RecordLog.open(files, NAME, format)) {
            log.replay(records::add);
        }
        return records;
    }

    @Test
    void open_ofNoFile_saysSo() {
        assertThatThrownBy(() -> RecordLog.open(files, NAME, format)).isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void replay_givesTheRecordsBack() throws Exception {
        written().close();
        assertThat(replayed()).isEqualTo(RECORDS);
    }

    @Test
    void replay_ofATornLog_endsBeforeTheTear() throws Exception {
        written().close();
        for (long length = Files.size(path()) - 1; length >= 0; length--) {
            cut(length);
            List<String> records = replayed();
            assertThat(records).isEqualTo(RECORDS.subList(0, records.size()));
            assertThat(records.size()).isLessThan(RECORDS.size());
        }
    }

    private void cut(long length) throws IOException {
        try (DataFile file = files.open(NAME)) {
            file.setLength(length);
        }
    }

    @Test
    void replay_ofAFlippedBit_endsBeforeIt() throws Exception {
        written().close();
        byte[] whole = Files.readAllBytes(path());
        for (int bit = 8 * Long.BYTES; bit < 8 * whole.length; bit++) {
            byte[] damaged = whole.clone();
            damaged[bit / 8] ^= (byte) (1 << bit % 8);
            Files.write(path(), damaged);
            List<String> records = replayed();
            assertThat(records).isEqualTo(RECORDS.subList(0, records.size()));
            assertThat(records.size()).isLessThan(RECORDS.size());
        }
    }

    @Test
    void replay_ofRecordsOfAllSizes_givesThemBack() throws Exception {
        List<String> records = IntStream.iterate(1, size -> size < 4_000_000, size -> 3 * size + 1)
                .mapToObj("x"::repeat)
                .toList();
        log(files, records.toArray(String[]::new)).close();
        assertThat(replayed()).isEqualTo(records);
    }

    @Test
    void replay_ofMoreThanMemoryTakes_endsWhereItEnds() throws Exception {
        written().close();
        long end = Files.size(path());
        cut(3L << 30); // the zeros take no space
        assertThat(replayed()).isEqualTo(RECORDS);
        try (DataFile file = files.open(NAME)) {
            file.write(
                    end,
                    ByteBuffer.allocate(Integer.BYTES).putInt(Integer.MAX_VALUE).flip());
        }
        assertThat(replayed()).isEqualTo(RECORDS);
    }

    @Test
    void replay_ofAnotherFormat_isAnErrorWhereItMayBeData() throws Exception {
        written().close();
        byte[] bytes = Files.readAllBytes(path());
        bytes[7]++;
        Files.write(path(), bytes);
        if (durable) {
            assertThatThrownBy(this::replayed).isInstanceOf(RecordLog.UnreadableException.class);
        } else {
            try (RecordLog<String> log = RecordLog.open(files, NAME, format)) {
                log.replay(_ -> {});
                log.append("new");
            }
            assertThat(replayed()).containsExactly("new");
        }
    }

    @Test
    void replay_ofZeros_isThatOfAnEmptyLog() throws Exception {
        Files.write(path(), new byte[100]);
        try (RecordLog<String> log = RecordLog.open(files, NAME, format)) {
            log.replay(_ -> {});
            log.append("one");
        }
        assertThat(replayed()).containsExactly("one");
    }

    @Test
    void replay_ofDamageToWhatWasForced_isAnErrorIfTheLogIsDurable() throws Exception {
        try (RecordLog<String> log = log(files, "one", "two")) {
            log.force();
            log.append("three");
        }
        int third = (int) Files.size(path()) - 1;
        byte[] bytes = Files.readAllBytes(path());
        bytes[third] ^= 1;
        Files.write(path(), bytes);
        assertThat(replayed()).as("of what was not").containsExactly("one", "two");

        bytes[Long.BYTES + RecordLog.FRAME] ^= 1; // in the first record
        Files.write(path(), bytes);
        if (durable) {
            assertThatThrownBy(this::replayed)
                    .isInstanceOf(RecordLog.UnreadableException.class)
                    .hasMessageContaining("record 0, at byte 8, is damaged");
        } else {
            assertThat(replayed()).isEmpty();
        }
    }

    @Test
    void replay_readFails_endsThereUnlessTheLogIsDurable() throws Exception {
        log(files, "one", "x".repeat(3 << 20), "three").close();
        AtomicInteger reads = new AtomicInteger();
        DataFolder sick = WatchedFolder.of(files, operation -> {
            if (operation.equals("file read") && reads.incrementAndGet() > 1) {
                throw new IOException("Input/output error");
            }
        });
        List<String> records = new ArrayList<>();
        try (RecordLog<String> log = RecordLog.open(sick, NAME, format)) {
            replaySick(log, records);
            if (!durable) {
                log.append("two");
                assertThat(records).containsExactly("one");
                assertThat(replayed()).containsExactly("one", "two");
            }
        }
    }

    @Test
    void replay_ofALogWithABadSector_givesTheRecordsBeforeIt() throws Exception {
        written().close();
        DataFolder sick = WatchedFolder.withBadSector(files, Files.size(path()) - 1);
        List<String> records = new ArrayList<>();
        try (RecordLog<String> log = RecordLog.open(sick, NAME, format)) {
            replaySick(log, records);
        }
        assertThat(records).isEqualTo(RECORDS.subList(0, RECORDS.size() - 1));
    }

    /** Replays from a disk that fails to read part of it. */
    private void replaySick(RecordLog<String> log, List<String> records) throws IOException {
        if (durable) {
            assertThatThrownBy(() -> log.replay(records::add))
                    .isInstanceOf(RecordLog.UnreadableException.class)
                    .hasMessageMatching("it cannot be read from byte \\d+ on: Input/output error");
        } else {
            log.replay(records::add);
        }
    }

    @Test
    void append_afterATornTail_followsTheLastWholeRecord() throws Exception {
        written().close();
        cut(Files.size(path()) - 1);
        try (RecordLog<String> log = RecordLog.open(files, NAME, format)) {
            log.replay(_ -> {});
            log.append("x");
        }
        List<String> expected = new ArrayList<>(RECORDS.subList(0, RECORDS.size() - 1));
        expected.add("x");
        assertThat(replayed()).isEqualTo(expected);
    }

    @Test
    void append_thatFailed_leavesNothing() throws Exception {
        AtomicBoolean fails = new AtomicBoolean();
        DataFolder watched = WatchedFolder.of(files, operation -> {
            if (operation.equals("file write") && fails.get()) {
                try (DataFile file = files.open(NAME)) { // as a full disk does
                    file.write(file.length(), ByteBuffer.allocate(100));
                }
                throw new IOException("full");
            }
        });
        try (RecordLog<String> log = log(watched, "one")) {
            fails.set(true);
            assertThatThrownBy(() -> log.append("two")).hasMessage("full");
            fails.set(false);
            log.append("three");
        }
        assertThat(replayed()).containsExactly("one", "three");
        assertThat(Files.size(path())).isLessThan(100);
    }

    @Test
    void append_interrupted_isWrittenAndKeepsTheInterrupt() throws Exception {
        try (RecordLog<String> log = log(files)) {
            Thread.currentThread().interrupt();
            log.append("one");
            assertThat(Thread.interrupted()).isTrue();
            log.append("two");
        }
        assertThat(replayed()).containsExactly("one", "two");
    }

    @Test
    void append_afterClose_leavesTheFileAlone() throws Exception {
        RecordLog<String> log = log(files, "one");
        log.close();
        assertThatThrownBy(() -> log.append("two")).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> log.compact(_ -> {})).isInstanceOf(IOException.class);
        assertThat(replayed()).containsExactly("one");
    }

    @Test
    void compact_whileItIsClosed_leavesTheFolderToTheNext() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        RecordLog<String> log = log(files, "one");
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread compaction = Thread.ofPlatform()
                .start(() -> failure.set(catchThrowable(() -> log.compact(to -> {
                    begun.countDown();
                    await(mayGoOn);
                    to.add("three");
                }))));
        await(begun);
        log.close();
        Path ofTheNext = directory.resolve(NAME + RecordLog.DRAFT);
        Files.writeString(ofTheNext, "the next's");
        mayGoOn.countDown();
        compaction.join();
        assertThat(failure.get()).isInstanceOf(IOException.class);
        assertThat(ofTheNext).hasContent("the next's");
        assertThat(replayed()).containsExactly("one");
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void compact_givesTheFileWhatTheLogIsToSay() throws Exception {
        List<String> many =
                IntStream.range(0, 20_000).mapToObj("record %d"::formatted).toList();
        try (RecordLog<String> log = log(files, "x".repeat(10_000))) {
            assertThat(log.isLarge()).isTrue();
            log.compact(to -> {
                for (String record : many) {
                    to.add(record);
                }
            });
            assertThat(log.isLarge())
                    .as("more than compacting is worth, but nothing superseded")
                    .isFalse();
            log.append("last");
            log.force();
            List<String> again = new ArrayList<>();
            log.reread(again::add);
            assertThat(again).hasSize(many.size() + 1).startsWith("record 0").endsWith("record 19999", "last");
        }
        assertThat(replayed()).hasSize(many.size() + 1).endsWith("last");
        assertThat(files.names()).containsExactly(NAME);
    }

    @Test
    void compact_thatFails_keepsTheLogAndIsDueOnceItIsTwiceAsLong() throws Exception {
        for (String failing : List.of("create", "file write", "file force", "rename", "open")) {
            AtomicBoolean broken = new AtomicBoolean();
            DataFolder watched = WatchedFolder.of(files, operation -> {
                if (broken.get() && operation.equals(failing)) {
                    throw new IOException("broken");
                }
            });
            try (RecordLog<String> log = log(watched, "x".repeat(10_000))) {
                assertThat(log.isLarge()).isTrue();
                broken.set(true);
                assertThatThrownBy(() -> log.compact(to -> to.add("x".repeat(10_000))))
                        .as(failing)
                        .hasMessage("broken");
                broken.set(false);
                assertThat(log.isLarge()).isFalse();
                log.append("later");
                log.force();
            }
            assertThat(replayed()).as(failing).containsExactly("x".repeat(10_000), "later");
            assertThat(files.names()).containsExactly(NAME);
            files.remove(NAME);
        }
    }

    @Test
    void compact_whileOthersAppend_losesNothing() throws Exception {
        try (RecordLog<String> log = log(files)) {
            RecordLog.Source<String> all = to -> {
                List<String> records = new ArrayList<>();
                log.reread(records::add);
                for (String record : records) {
                    to.add(record);
                }
            };
            AtomicInteger appended = new AtomicInteger();
            FutureTask<Boolean> appending = new FutureTask<>(() -> {
                for (int number = 1; number <= 2000; number++) {
                    log.append(String.valueOf(number));
                    appended.set(number);
                }
                return true;
            });
            Thread.ofPlatform().start(appending);
            do {
                int before = appended.get();
                log.compact(all);
                while (appended.get() == before && !appending.isDone()) { // else its turn might never come
                    Thread.onSpinWait();
                }
            } while (!appending.isDone());
            appending.get();
        }
        assertThat(replayed())
                .isEqualTo(
                        IntStream.rangeClosed(1, 2000).mapToObj(String::valueOf).toList());
    }
}
