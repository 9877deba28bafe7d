package io.penstock.writeback.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.penstock.core.ByteRange;
import io.penstock.core.Crc32c;
import io.penstock.core.ObjectVersion;
import io.penstock.disk.DataFile;
import io.penstock.disk.DataFolder;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.OperationId;
import io.penstock.objectstore.UploadedPart;
import io.penstock.testing.Seeded;
import io.penstock.writeback.CrashingFiles;
import io.penstock.writeback.WatchedFiles;
import io.penstock.writeback.upload.JournalledUpload;
import io.penstock.writeback.upload.PartLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** What a journal gives back of what it was told. */
final class JournalTest {
    private static final ObjectVersion BASE = new ObjectVersion("a/ü", "\"etag\"", 77, Instant.ofEpochSecond(5, 6));

    private static final List<JournalRecord> RECORDS = List.of(
            new JournalRecord.Opened("ns", "a/ü", BASE, null, false),
            new JournalRecord.UploadCreated(
                    new MultipartUpload("key", "id", new OperationId("1f")), new PartLayout(8 << 20, 3, 8 << 20, 1000)),
            new JournalRecord.PartUploaded(new UploadedPart(4, "\"p\"", 8 << 20), -5),
            new JournalRecord.Written(
                    100,
                    50,
                    Long.MAX_VALUE,
                    Instant.EPOCH,
                    List.of(new ByteRange(1, 2)),
                    List.of(new ByteRange(3, 4), new ByteRange(1L << 40, 9)),
                    new TreeMap<>(Map.of("x-amz-meta-a", "b", "x-amz-meta-c", ""))),
            new JournalRecord.InData(2),
            new JournalRecord.Sent(new OperationId("2e"), 7),
            new JournalRecord.Withdrawn(),
            new JournalRecord.Dropped(),
            new JournalRecord.UploadEnded("id"),
            new JournalRecord.Opened("ns", "b", null, BASE, true),
            new JournalRecord.Failed("because"),
            new JournalRecord.Older());

    private static final PartLayout LAYOUT = new PartLayout(0, 0, 8 << 20, 1000);
    private static final UploadedPart PART = new UploadedPart(1, "\"p\"", 8 << 20);

    private static final String NAME = "j.journal";

    private final CrashingFiles files = new CrashingFiles();

    private static List<JournalRecord> replay(DataFolder in) throws IOException {
        List<JournalRecord> records = new ArrayList<>();
        Journal.replay(in, NAME, records::add).close();
        return records;
    }

    private static Journal journal(DataFolder in, List<JournalRecord> records) throws IOException {
        Journal journal = Journal.create(in, NAME);
        for (JournalRecord record : records) {
            journal.append(record);
        }
        return journal;
    }

    @Test
    void replay_ofAllKinds_givesThemBack() throws Exception {
        journal(files, RECORDS).close();
        assertThat(replay(files)).isEqualTo(RECORDS);
    }

    /** If this fails, raise the version in Journal: journals of earlier versions must not be misread. */
    @Test
    void append_ofAllKinds_isTheFormatOfThisVersion() throws Exception {
        journal(files, RECORDS).close();
        ByteBuffer content;
        try (DataFile file = files.open(NAME)) {
            content = ByteBuffer.allocate(Math.toIntExact(file.length()));
            file.read(0, content);
        }
        assertThat(HexFormat.of().toHexDigits(Crc32c.of(content.flip()))).isEqualTo("9252fe80");
    }

    @Test
    void append_afterClose_isNeededByNobody() throws Exception {
        Journal journal = journal(files, RECORDS);
        journal.close();
        journal.append(new JournalRecord.Dropped());
        journal.compact();
        journal.force();
        assertThat(replay(files)).isEqualTo(RECORDS);
    }

    private static JournalState replayed(List<JournalRecord> records) {
        JournalState state = new JournalState();
        records.forEach(state);
        return state;
    }

    private static JournalRecord randomRecord(RandomGenerator random) {
        String id = String.valueOf(random.nextInt(3));
        return switch (random.nextInt(8)) {
            case 0 -> new JournalRecord.UploadCreated(new MultipartUpload("a/ü", id, OperationId.random()), LAYOUT);
            case 1 -> new JournalRecord.PartUploaded(new UploadedPart(1 + random.nextInt(9), id, 5), random.nextInt());
            case 2 -> new JournalRecord.UploadEnded(id);
            case 3 -> new JournalRecord.Opened("ns", random.nextInt(3) == 0 ? "b" : "a/ü", BASE, null, false);
            case 4 ->
                switch (random.nextInt(10)) {
                    case 0 -> new JournalRecord.Failed(id);
                    case 1 -> new JournalRecord.Older();
                    default -> new JournalRecord.Withdrawn();
                };
            default ->
                new JournalRecord.Written(
                        200,
                        random.nextInt(200),
                        random.nextBoolean() ? random.nextInt(200) : Long.MAX_VALUE,
                        Instant.ofEpochSecond(random.nextInt()),
                        List.of(new ByteRange(random.nextInt(150), 1 + random.nextInt(50))),
                        List.of(new ByteRange(random.nextInt(150), 1 + random.nextInt(50))),
                        random.nextBoolean() ? Collections.emptySortedMap() : new TreeMap<>(Map.of(id, id)));
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
        assertThat(state.failure()).isEqualTo(expected.failure());
        assertThat(state.isOlder()).isEqualTo(expected.isOlder());
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

    @Test
    void compact_withACrashAtAnyStep_leavesTheOldOneOrTheNew() throws Exception {
        List<JournalRecord> records = new ArrayList<>(RECORDS.subList(0, 4));
        for (int i = 0; i < 50; i++) {
            records.add(new JournalRecord.Written(
                    100, 50, 90, Instant.EPOCH, List.of(), List.of(new ByteRange(i, 3)), Collections.emptySortedMap()));
        }
        int steps = 7; // remove, create, records, force, that it is durable, rename, open
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
            journal.force();
            watched.force();
            left.set(1 + seed % steps);
            var _ = catchThrowable(journal::compact);
            CrashingFiles after = crashed.get() == null ? disk.crash(random) : crashed.get();
            assertSame(replayed(replay(after)), replayed(records));
        }
    }

    private static JournalState state(JournalRecord... records) {
        JournalState state = new JournalState();
        state.accept(new JournalRecord.Opened("ns", "a", null, null, false));
        List.of(records).forEach(state);
        return state;
    }

    @Test
    void uploads_beganBeforeTheLastHasEnded_areAllKnown() {
        MultipartUpload first = new MultipartUpload("a", "1", OperationId.random());
        MultipartUpload second = new MultipartUpload("a", "2", OperationId.random());
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
    void upload_underAnEarlierName_isAbortedUnderThatName() {
        MultipartUpload upload = new MultipartUpload("a", "1", OperationId.random());
        JournalState moved = state(
                new JournalRecord.UploadCreated(upload, LAYOUT),
                new JournalRecord.Opened("ns", "b", null, null, false));
        assertThat(moved.upload()).isNull();
        assertThat(moved.uploads()).containsExactly(upload);
    }
}
