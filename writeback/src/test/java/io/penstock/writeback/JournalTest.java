package io.penstock.writeback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.disk.DataFile;
import io.penstock.disk.DataFolder;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.UploadedPart;
import io.penstock.testing.Seeded;
import io.penstock.writeback.CrashingFiles.Fault;
import io.penstock.writeback.WatchedFiles.Operation;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a journal gives back of what it was told. */
final class JournalTest {
    private static final ObjectVersion BASE = new ObjectVersion("a/ü", "\"etag\"", 77, Instant.ofEpochSecond(5, 6));

    private static final List<JournalRecord> RECORDS = List.of(
            new JournalRecord.Opened("ns", "a/ü", BASE, null),
            new JournalRecord.UploadCreated(
                    new MultipartUpload("key", "id"), new PartLayout(8 << 20, 3, 8 << 20, 1000)),
            new JournalRecord.PartUploaded(new UploadedPart(4, "\"p\"", 8 << 20), -5),
            new JournalRecord.Written(
                    100,
                    50,
                    Long.MAX_VALUE,
                    Instant.EPOCH,
                    List.of(new ByteRange(1, 2)),
                    List.of(new ByteRange(3, 4), new ByteRange(1L << 40, 9))),
            new JournalRecord.Dropped(),
            new JournalRecord.UploadEnded("id"),
            new JournalRecord.Opened("ns", "b", null, BASE),
            new JournalRecord.Kept("because"));

    private static final PartLayout LAYOUT = new PartLayout(0, 0, 8 << 20, 1000);
    private static final UploadedPart PART = new UploadedPart(1, "\"p\"", 8 << 20);

    private final CrashingFiles files = new CrashingFiles();

    @TempDir
    Path directory;

    private static List<JournalRecord> replay(DataFile file) throws IOException {
        List<JournalRecord> records = new ArrayList<>();
        Journal.replay(file, records::add);
        return records;
    }

    private DataFile written() throws IOException {
        DataFile file = files.create("j");
        Journal journal = Journal.create(file);
        for (JournalRecord record : RECORDS) {
            journal.append(record);
        }
        return file;
    }

    @Test
    void replay_ofAllKinds_givesThemBack() throws Exception {
        assertThat(replay(written())).isEqualTo(RECORDS);
    }

    @Test
    void replay_ofATornJournal_endsBeforeTheTear() throws Exception {
        DataFile file = written();
        for (long length = file.length() - 1; length >= 0; length--) {
            file.setLength(length);
            List<JournalRecord> records = replay(file);
            assertThat(records).isEqualTo(RECORDS.subList(0, records.size()));
            assertThat(records.size()).isLessThan(RECORDS.size());
        }
    }

    @Test
    void replay_ofAFlippedBit_endsBeforeIt() {
        Seeded.check(200, random -> {
            CrashingFiles others = new CrashingFiles();
            DataFile file = others.create("j");
            Journal journal = Journal.create(file);
            for (JournalRecord record : RECORDS) {
                journal.append(record);
            }
            ByteBuffer one = ByteBuffer.allocate(1);
            long at = Long.BYTES + random.nextLong(file.length() - Long.BYTES);
            file.read(at, one);
            file.write(at, ByteBuffer.wrap(new byte[] {(byte) (one.get(0) ^ 1 << random.nextInt(8))}));
            List<JournalRecord> records = replay(file);
            assertThat(records).isEqualTo(RECORDS.subList(0, records.size()));
            assertThat(records.size()).isLessThan(RECORDS.size());
        });
    }

    @Test
    void replay_ofAJournalThatSaysThatTheFileWasClosed_passesOverThat() throws Exception {
        DataFile file = written();
        ByteBuffer record =
                ByteBuffer.allocate(5).putInt(RECORDS.size()).put((byte) 3).flip();
        CRC32C checksum = new CRC32C();
        checksum.update(record.duplicate());
        ByteBuffer framed = ByteBuffer.allocate(13).putInt(5).putInt((int) checksum.getValue());
        file.write(file.length(), framed.put(record).flip());
        Journal journal = Journal.replay(file, known -> {});
        journal.append(new JournalRecord.UploadEnded("id"));
        assertThat(replay(file)).hasSize(RECORDS.size() + 1).endsWith(new JournalRecord.UploadEnded("id"));
    }

    @Test
    void replay_ofRecordsOfAllSizes_givesThemBack() throws Exception {
        List<JournalRecord> records = new ArrayList<>();
        for (int ranges = 1; ranges < 300_000; ranges = 3 * ranges + 1) {
            List<ByteRange> data = LongStream.range(0, ranges)
                    .mapToObj(i -> new ByteRange(2 * i, 1))
                    .toList();
            records.add(new JournalRecord.Written(1, 0, 0, Instant.EPOCH, List.of(), data));
            records.add(new JournalRecord.UploadEnded("x".repeat(ranges % 60_000)));
        }
        DataFile file = files.create("j");
        Journal journal = Journal.create(file);
        for (JournalRecord record : records) {
            journal.append(record);
        }
        assertThat(replay(file)).isEqualTo(records);
    }

    @Test
    void replay_ofMoreThanMemoryTakes_endsWhereItEnds() throws Exception {
        DataFolder local = StagingFolder.open(directory);
        try (DataFile file = local.create("j.journal")) {
            Journal journal = Journal.create(file);
            for (JournalRecord record : RECORDS) {
                journal.append(record);
            }
            long end = journal.length();
            file.setLength(3L << 30); // of zeros, which take no space
            assertThat(replay(file)).isEqualTo(RECORDS);
            ByteBuffer frame = ByteBuffer.allocate(3 * Integer.BYTES);
            file.write(
                    end,
                    frame.putInt(Integer.MAX_VALUE)
                            .putInt(0)
                            .putInt(RECORDS.size() + 1)
                            .flip());
            assertThat(replay(file)).isEqualTo(RECORDS);
        }
    }

    @Test
    void append_afterATornTail_followsWhatIsWhole() throws Exception {
        DataFile file = written();
        file.setLength(file.length() - 3);
        Journal again = Journal.replay(file, record -> {});
        again.append(new JournalRecord.Dropped());
        List<JournalRecord> expected = new ArrayList<>(RECORDS.subList(0, RECORDS.size() - 1));
        expected.add(new JournalRecord.Dropped());
        assertThat(replay(file)).isEqualTo(expected);
    }

    @Test
    void append_thatFailed_leavesNothing() throws Exception {
        DataFile file = written();
        Journal again = Journal.replay(file, record -> {});
        files.set(Fault.FULL);
        assertThat(catchThrowable(() -> again.append(new JournalRecord.Dropped())))
                .isInstanceOf(IOException.class);
        files.set(Fault.NONE);
        again.append(new JournalRecord.UploadEnded("id"));
        assertThat(replay(file)).hasSize(RECORDS.size() + 1).endsWith(new JournalRecord.UploadEnded("id"));
    }

    private static JournalState replayed(List<JournalRecord> records) {
        JournalState state = new JournalState();
        records.forEach(state);
        return state;
    }

    private static JournalRecord randomRecord(RandomGenerator random) {
        String id = String.valueOf(random.nextInt(3));
        return switch (random.nextInt(8)) {
            case 0 -> new JournalRecord.UploadCreated(new MultipartUpload("a/ü", id), LAYOUT);
            case 1 -> new JournalRecord.PartUploaded(new UploadedPart(1 + random.nextInt(9), id, 5), random.nextInt());
            case 2 -> new JournalRecord.UploadEnded(id);
            case 3 -> new JournalRecord.Opened("ns", random.nextInt(3) == 0 ? "b" : "a/ü", BASE, null);
            case 4 -> random.nextInt(5) == 0 ? new JournalRecord.Kept(id) : new JournalRecord.Withdrawn();
            default ->
                new JournalRecord.Written(
                        200,
                        random.nextInt(200),
                        random.nextBoolean() ? random.nextInt(200) : Long.MAX_VALUE,
                        Instant.ofEpochSecond(random.nextInt()),
                        List.of(new ByteRange(random.nextInt(150), 1 + random.nextInt(50))),
                        List.of(new ByteRange(random.nextInt(150), 1 + random.nextInt(50))));
        };
    }

    private static void assertSame(JournalState state, JournalState expected) {
        assertThat(state.records()).isEqualTo(expected.records());
        assertThat(state.data()).hasToString(expected.data().toString());
        assertThat(state.zeros()).hasToString(expected.zeros().toString());
        assertThat(state.upload()).isEqualTo(expected.upload());
        assertThat(state.uploads()).isEqualTo(expected.uploads());
        assertThat(state.opened()).isEqualTo(expected.opened());
        assertThat(state.withdrawn()).isEqualTo(expected.withdrawn());
        assertThat(state.keptFor()).isEqualTo(expected.keptFor());
    }

    @Test
    void records_ofAState_addUpToTheSameWhateverFollows() {
        Seeded.check(300, random -> {
            JournalState state = state();
            for (int i = random.nextInt(20); i > 0; i--) {
                state.accept(randomRecord(random));
            }
            JournalState again = replayed(state.records());
            assertSame(again, state);
            for (int i = 0; i < 10; i++) {
                JournalRecord next = randomRecord(random);
                state.accept(next);
                again.accept(next);
                assertSame(again, state);
            }
        });
    }

    private static Journal journal(DataFolder in, List<JournalRecord> records) throws IOException {
        Journal journal = Journal.create(in.create("j.journal"));
        for (JournalRecord record : records) {
            journal.append(record);
        }
        journal.force();
        in.force();
        return journal;
    }

    @Test
    void shorten_withACrashAtAnyStep_leavesTheOldOneOrTheNew() throws Exception {
        List<JournalRecord> records = new ArrayList<>(RECORDS.subList(0, 4));
        for (int i = 0; i < 50; i++) {
            records.add(new JournalRecord.Written(100, 50, 90, Instant.EPOCH, List.of(), List.of(new ByteRange(i, 3))));
        }
        int steps = 8; // remove, create, magic number, records, force, that it is durable, rename, open
        for (int seed = 0; seed < 20 * steps; seed++) {
            RandomGenerator random = Seeded.random(seed);
            CrashingFiles disk = new CrashingFiles();
            AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);
            AtomicReference<CrashingFiles> crashed = new AtomicReference<>();
            WatchedFiles watched = new WatchedFiles(disk, (_, _) -> {
                if (left.decrementAndGet() == 0) {
                    crashed.set(disk.crash(random));
                }
            });
            Journal journal = journal(watched, records);
            left.set(1 + seed % (steps + 3)); // there are four records
            var _ = catchThrowable(() -> journal.shorten(watched, "j.journal"));
            CrashingFiles after = crashed.get() == null ? disk.crash(random) : crashed.get();
            assertSame(replayed(replay(after.open("j.journal"))), replayed(records));
        }
    }

    @Test
    void shorten_whileOthersAppend_losesNothing() throws Exception {
        JournalRecord created = new JournalRecord.UploadCreated(new MultipartUpload("a/ü", "id"), LAYOUT);
        Journal journal = journal(files, List.of(RECORDS.getFirst(), created));
        AtomicInteger appended = new AtomicInteger();
        FutureTask<Boolean> appending = new FutureTask<>(() -> {
            for (int number = 1; number <= 2000; number++) {
                journal.append(new JournalRecord.PartUploaded(new UploadedPart(number, "\"p\"", 5), number));
                appended.set(number);
            }
            return true;
        });
        Thread.ofPlatform().start(appending);
        do {
            int before = appended.get();
            journal.shorten(files, "j.journal");
            while (appended.get() == before && !appending.isDone()) { // or its turn might never come
                Thread.onSpinWait();
            }
        } while (!appending.isDone());
        appending.get();
        JournalledUpload upload = replayed(replay(files.open("j.journal"))).upload();
        assertThat(upload).isNotNull();
        assertThat(upload.parts()).hasSize(2000);
        assertThat(files.names()).containsExactly("j.journal");
    }

    @Test
    void shorten_thatFails_losesNothingAndClaimsNothing() throws Exception {
        for (Operation failing : List.of(Operation.CREATE, Operation.FORCE, Operation.RENAME, Operation.OPEN)) {
            CrashingFiles disk = new CrashingFiles();
            AtomicBoolean broken = new AtomicBoolean();
            WatchedFiles watched = new WatchedFiles(disk, (operation, _) -> {
                if (broken.get() && operation == failing) {
                    throw new IOException("broken");
                }
            });
            Journal journal = journal(watched, RECORDS);
            broken.set(true);
            assertThat(catchThrowable(() -> journal.shorten(watched, "j.journal")))
                    .hasMessage("broken");
            broken.set(false);
            Throwable refused = catchThrowable(() -> journal.append(new JournalRecord.Kept("later")));
            assertThat(replayed(replay(disk.open("j.journal"))).keptFor())
                    .isEqualTo(refused == null ? "later" : "because");
            assertThat(disk.names()).containsExactly("j.journal");
        }
    }

    private static JournalState state(JournalRecord... records) {
        JournalState state = new JournalState();
        state.accept(new JournalRecord.Opened("ns", "a", null, null));
        List.of(records).forEach(state);
        return state;
    }

    @Test
    void uploads_beganBeforeTheLastHasEnded_areAllKnown() {
        MultipartUpload first = new MultipartUpload("a", "1");
        MultipartUpload second = new MultipartUpload("a", "2");
        JournalState both =
                state(new JournalRecord.UploadCreated(first, LAYOUT), new JournalRecord.UploadCreated(second, LAYOUT));
        assertThat(both.uploads()).containsExactlyInAnyOrder(first, second);
        JournalledUpload last = both.upload();
        assertThat(last).isNotNull();
        assertThat(last.upload()).isEqualTo(second);
        both.accept(new JournalRecord.PartUploaded(PART, 7));
        both.accept(new JournalRecord.UploadEnded("1"));
        assertThat(both.uploads()).containsExactly(second);
        JournalledUpload left = both.upload();
        assertThat(left).isNotNull();
        assertThat(left.parts()).containsOnlyKeys(1);
    }

    @Test
    void upload_ofANameThatTheFileHadBefore_isToBeAbortedUnderThatName() {
        MultipartUpload upload = new MultipartUpload("a", "1");
        JournalState moved =
                state(new JournalRecord.UploadCreated(upload, LAYOUT), new JournalRecord.Opened("ns", "b", null, null));
        assertThat(moved.upload()).isNull();
        assertThat(moved.uploads()).containsExactly(upload);
    }
}
