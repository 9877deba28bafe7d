package io.penstock.writeback.upload;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.ObjectStoreException.PreconditionFailed;
import io.penstock.objectstore.ObjectStoreException.Unavailable;
import io.penstock.objectstore.WriteCondition;
import io.penstock.testing.DelayingObjectStore;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.Gate;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.RecordingObjectStore;
import io.penstock.testing.Seeded;
import io.penstock.testing.TestData;
import io.penstock.writeback.content.Run;
import io.penstock.writeback.upload.Uploads.PartSizes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class FileUploadTest {
    private static final int MIB = 1 << 20;
    private static final int PART = 8 * MIB;
    private static final Predicate<Call> PARTS = Call.UploadPart.class::isInstance;

    private final InMemoryObjectStore bucket = new InMemoryObjectStore();
    private final FaultyObjectStore faults = new FaultyObjectStore(bucket);
    private final DelayingObjectStore delays = new DelayingObjectStore(faults);
    private final RecordingObjectStore store = new RecordingObjectStore(delays);
    private final WritebackLimits limits =
            new WritebackLimits(new WritebackLimits.Values(4, 3, 4, 1 << 30, 1 << 30, PART));
    private final AtomicLong nanoTime = new AtomicLong();
    private final Uploads uploads = new Uploads(store, PartSizes.GROWING, 5L << 40, limits, () -> false, nanoTime::get);
    private FakeFile file = new FakeFile(null, new byte[0]);

    @AfterEach
    void nothingIsLeft() {
        uploads.close();
        assertThat(uploads.running()).isZero();
        assertThat(file.bodies()).isZero();
        assertThat(store.uploadsInFlight()).isZero();
    }

    // ---- one PUT

    @Test
    void commit_empty_isOnePut() throws Exception {
        ObjectVersion version = begin(null).commit(0, WriteCondition.ABSENT, NeverCalledOff.INSTANCE);
        assertThat(version.size()).isZero();
        assertThat(store.writes()).containsExactly(new Call.Put("key", 0, WriteCondition.ABSENT));
    }

    @Test
    void commit_onePart_isOnePut() throws Exception {
        FileUpload upload = begin(null);
        file.write(upload, 0, data(PART));
        commit(upload);
        assertThat(store.writes()).containsExactly(new Call.Put("key", PART, WriteCondition.ALWAYS));
        assertThat(uploads.uploadedBytes()).isEqualTo(PART);
    }

    @Test
    void commit_cutToOnePart_isOnePutAndNoUploadIsLeft() throws Exception {
        FileUpload upload = begin(null);
        file.write(upload, 0, data(3 * PART));
        awaitUploaded(upload, 3 * PART);
        file.truncate(upload, 100);
        commit(upload);
        uploads.close();
        assertThat(store.only(Call.Put.class)).hasSize(1);
        assertThat(bucket.openUploads()).isEmpty();
        assertThat(file.journalled()).isNull();
    }

    @Test
    void commit_conditionDoesNotHold_fails() throws Exception {
        begin(null).commit(0, WriteCondition.ABSENT, NeverCalledOff.INSTANCE);
        assertThatThrownBy(() -> begin(null).commit(0, WriteCondition.ABSENT, NeverCalledOff.INSTANCE))
                .isInstanceOf(PreconditionFailed.class);
    }

    // ---- while the file is written

    @Test
    void ready_wholeParts_goUpBeforeTheCommit() throws Exception {
        FileUpload upload = begin(null);
        file.write(upload, 0, data(2 * PART + 5));
        awaitUploaded(upload, 2 * PART);
        assertThat(store.only(Call.UploadPart.class)).hasSize(2);
        commit(upload);
        assertThat(store.only(Call.UploadPart.class)).hasSize(3);
        assertThat(store.only(Call.CreateUpload.class)).hasSize(1);
    }

    @Test
    void ready_anyOrder_goUpWhenTheirLastBlockIsThere() throws Exception {
        FileUpload upload = begin(null);
        file.write(upload, PART + BLOCK_SIZE, data(BLOCK_SIZE));
        file.write(upload, 0, data(BLOCK_SIZE));
        assertThat(store.writes()).isEmpty();
        file.write(upload, PART, data(BLOCK_SIZE));
        awaitUploaded(upload, PART);
        file.write(upload, BLOCK_SIZE, data(BLOCK_SIZE));
        commit(upload);
        assertThat(store.uploadedBytes()).isEqualTo(2 * PART);
    }

    @Test
    void changed_partThatIsUp_goesUpAgain() throws Exception {
        FileUpload upload = begin(null);
        file.write(upload, 0, data(3 * PART));
        awaitUploaded(upload, 3 * PART);
        file.write(upload, PART + 7, new byte[100]);
        assertThat(upload.uploadedBytes()).isEqualTo(2 * PART);
        commit(upload);
        assertThat(store.only(Call.UploadPart.class)).hasSize(4);
    }

    @Test
    void changed_partOnItsWay_goesUpAgain() throws Exception {
        FileUpload upload = begin(null);
        try (Gate gate = delays.hold(PARTS)) {
            file.write(upload, 0, data(2 * PART));
            gate.awaitHeld(2);
            file.write(upload, 5, new byte[2 * BLOCK_SIZE]);
        }
        commit(upload);
        assertThat(store.only(Call.UploadPart.class)).hasSizeBetween(3, 4);
    }

    @Test
    void ready_failure_othersWaitForTheCommitWhichSendsAll() throws Exception {
        FileUpload upload = begin(null);
        faults.next(PARTS, Fault.fail(Unavailable::new));
        limits.set(new WritebackLimits.Values(1, 1, 4, 1 << 30, 1 << 30, PART));
        file.write(upload, 0, data(4 * PART));
        awaitNothingRuns();
        assertThat(upload.uploadedBytes()).isZero();
        commit(upload);
        assertThat(store.only(Call.UploadPart.class)).hasSize(5);
    }

    @Test
    void ready_failureAndAWhile_goesOn() throws Exception {
        FileUpload upload = begin(null);
        faults.next(PARTS, Fault.fail(Unavailable::new));
        limits.set(new WritebackLimits.Values(1, 1, 4, 1 << 30, 1 << 30, PART));
        file.write(upload, 0, data(2 * PART));
        awaitNothingRuns();
        assertThat(upload.uploadedBytes()).isZero();
        nanoTime.addAndGet(PartSender.EARLY_PAUSE_NANOS);
        file.write(upload, 2 * PART, data(PART));
        awaitUploaded(upload, 3 * PART);
        commit(upload);
    }

    @Test
    void ready_manyParts_noMoreAtOnceThanTheLimits() throws Exception {
        FileUpload upload = begin(null);
        FakeFile other = new FakeFile(null, new byte[0]);
        FileUpload another = uploads.begin(null, other, target("other", null), other);
        try (Gate gate = delays.hold(PARTS)) {
            file.write(upload, 0, data(6 * PART));
            gate.awaitHeld(3);
            other.write(another, 0, data(2 * PART));
            gate.awaitHeld(4);
            assertThat(file.bodies() + other.bodies()).isEqualTo(4);
            limits.set(new WritebackLimits.Values(6, 4, 4, 1 << 30, 1 << 30, PART));
            gate.awaitHeld(6);
        }
        commit(upload);
        another.commit(2 * PART, WriteCondition.ALWAYS, NeverCalledOff.INSTANCE);
        assertThat(store.mostUploadsInFlight()).isEqualTo(6);
    }

    // ---- changing an object

    @Test
    void commit_appended_sendsWhatWasAppendedAndCopiesTheRest() throws Exception {
        FileUpload upload = begin(stored(5 * BLOCK_SIZE));
        file.write(upload, 5 * BLOCK_SIZE, data(100));
        commit(upload);
        assertThat(store.uploadedBytes()).isEqualTo(100);
        assertThat(store.copiedBytes()).isEqualTo(5 * BLOCK_SIZE);
        assertThat(uploads.copiedBytes()).isEqualTo(5 * BLOCK_SIZE);
    }

    @Test
    void commit_oneByteChanged_sendsFiveMebibytes() throws Exception {
        FileUpload upload = begin(stored(20 * BLOCK_SIZE));
        file.write(upload, 10 * BLOCK_SIZE + 3, new byte[1]);
        commit(upload);
        assertThat(store.uploadedBytes()).isEqualTo(5 * MIB);
        assertThat(store.gets()).isEmpty();
    }

    @Test
    void commit_baseReplacedMeanwhile_isAConflict() throws Exception {
        ObjectVersion base = stored(10 * BLOCK_SIZE);
        FileUpload upload = begin(base);
        file.write(upload, 0, new byte[1]);
        bucket.put("key", "another's");
        assertThatThrownBy(() ->
                        upload.commit(file.size(), new WriteCondition.Unchanged(base.etag()), NeverCalledOff.INSTANCE))
                .isInstanceOf(PreconditionFailed.class);
        upload.abandon();
        uploads.close();
        assertThat(bucket.openUploads()).isEmpty();
    }

    @Test
    void commit_startOfAnotherObject_isCopied() throws Exception {
        ObjectVersion source = bucket.putTestData("source", 4 * PART);
        byte[] bytes = TestData.of("source", 4 * PART).bytes(0, 2 * PART);
        FakeFile copy = new FakeFile(null, bytes);
        assertThat(copy.size()).isEqualTo(2 * PART);
        FileContent content = new FileContent() {
            @Override
            public List<Run> runs(ByteRange within) {
                return List.of(new Run(within, source));
            }

            @Override
            public SnapshotBody body(ByteRange range) throws IOException {
                throw new IOException("is not to be read");
            }
        };
        uploads.begin(null, content, target("copy", null), copy)
                .commit(2 * PART, WriteCondition.ABSENT, NeverCalledOff.INSTANCE);
        assertThat(store.uploadedBytes()).isZero();
        assertThat(bytesOf("copy", 2 * PART)).isEqualTo(bytes);
    }

    // ---- failures

    @Test
    void commit_partFails_canBeTriedAgainAndSendsOnlyWhatIsMissing() throws Exception {
        FileUpload upload = begin(null);
        file.write(upload, 0, data(2 * PART));
        awaitUploaded(upload, 2 * PART);
        file.write(upload, 2 * PART, data(100));
        faults.next(PARTS, Fault.fail(ObjectStoreException.AccessDenied::new));
        assertThatThrownBy(() -> upload.commit(file.size(), WriteCondition.ALWAYS, NeverCalledOff.INSTANCE))
                .isInstanceOf(ObjectStoreException.AccessDenied.class);
        store.drain();
        commit(upload);
        assertThat(store.uploadedBytes()).isEqualTo(100);
    }

    @Test
    void commit_bodyUnreadable_fails() {
        file = new FakeFile(null, data(2 * PART));
        FileUpload failing = uploads.begin(null, file, target("key", null), file);
        file.failNextBody();
        assertThatThrownBy(() -> failing.commit(file.size(), WriteCondition.ALWAYS, NeverCalledOff.INSTANCE))
                .isInstanceOf(IOException.class)
                .hasMessage("injected");
    }

    @Test
    void commit_uploadGone_beginsAnew() throws Exception {
        FileUpload upload = begin(null);
        file.write(upload, 0, data(3 * PART));
        awaitUploaded(upload, 3 * PART);
        bucket.abort(bucket.openUploads().getFirst());
        commit(upload);
        assertThat(store.only(Call.CreateUpload.class)).hasSize(2);
        assertThat(bucket.openUploads()).isEmpty();
    }

    @Test
    void commit_uploadSaidToBeGone_leavesNothingOfTheFirst() throws Exception {
        file = new FakeFile(null, data(2 * PART));
        FileUpload upload = uploads.begin(null, file, target("key", null), file);
        faults.next(PARTS, Fault.fail(ObjectStoreException.NotFound::new));
        commit(upload);
        assertThat(store.only(Call.CreateUpload.class)).hasSize(2);
        uploads.close();
        assertThat(bucket.openUploads()).isEmpty();
    }

    @Test
    void commit_uploadCannotBeCreated_failsAndCanBeTriedAgain() throws Exception {
        FileUpload upload = begin(null);
        faults.next(2, Call.CreateUpload.class::isInstance, Fault.fail(Unavailable::new));
        limits.set(new WritebackLimits.Values(1, 1, 4, 1 << 30, 1 << 30, PART));
        file.write(upload, 0, data(2 * PART));
        awaitNothingRuns();
        assertThatThrownBy(() -> upload.commit(file.size(), WriteCondition.ALWAYS, NeverCalledOff.INSTANCE))
                .isInstanceOf(Unavailable.class);
        commit(upload);
    }

    @Test
    void abandon_partsOnTheirWay_areCancelledAndTheUploadAborted() throws Exception {
        FileUpload upload = begin(null);
        try (Gate gate = delays.hold(PARTS)) {
            file.write(upload, 0, data(5 * PART));
            gate.awaitHeld(3);
            upload.abandon();
            awaitNothingRuns();
        }
        uploads.close();
        assertThat(bucket.openUploads()).isEmpty();
        assertThat(store.only(Call.UploadPart.class)).hasSize(3);
        assertThat(file.journalled()).isNull();
        assertThatThrownBy(() -> upload.commit(file.size(), WriteCondition.ALWAYS, NeverCalledOff.INSTANCE))
                .isInstanceOf(IOException.class);
    }

    @Test
    void abandon_whileTheUploadIsCreated_abortsItNevertheless() throws Exception {
        FileUpload upload = begin(null);
        try (Gate gate = delays.hold(Call.CreateUpload.class::isInstance)) {
            file.write(upload, 0, data(2 * PART));
            gate.awaitHeld(1);
            upload.abandon();
        }
        uploads.close();
        assertThat(bucket.openUploads()).isEmpty();
        assertThat(store.only(Call.UploadPart.class)).isEmpty();
    }

    // ---- a later run

    @Test
    void resume_sameContent_sendsOnlyWhatIsNotUp() throws Exception {
        stopWithTwoPartsUp();
        FileUpload resumed = uploads.resume(Objects.requireNonNull(file.journalled()), file, target("key", null), file);
        commit(resumed);
        assertThat(store.uploadedBytes()).isEqualTo(100);
        assertThat(store.only(Call.CreateUpload.class)).isEmpty();
    }

    @Test
    void resume_contentDiffers_sendsThatPartAgain() throws Exception {
        stopWithTwoPartsUp();
        FakeFile changed = new FakeFile(null, file.bytes());
        FileUpload resumed =
                uploads.resume(Objects.requireNonNull(file.journalled()), changed, target("key", null), changed);
        changed.write(resumed, PART, new byte[1]);
        file = changed;
        commit(resumed);
        assertThat(store.uploadedBytes()).isEqualTo(PART + 100);
    }

    @Test
    void resume_partNotNoted_isSentAgain() throws Exception {
        stopWithTwoPartsUp();
        JournalledUpload journalled = Objects.requireNonNull(file.journalled());
        var parts = new HashMap<>(journalled.parts());
        parts.remove(1);
        commit(uploads.resume(
                new JournalledUpload(journalled.upload(), journalled.layout(), parts),
                file,
                target("key", null),
                file));
        assertThat(store.uploadedBytes()).isEqualTo(PART + 100);
    }

    @Test
    void resume_uploadGone_beginsAnew() throws Exception {
        stopWithTwoPartsUp();
        JournalledUpload journalled = Objects.requireNonNull(file.journalled());
        bucket.abort(journalled.upload());
        commit(uploads.resume(journalled, file, target("key", null), file));
        assertThat(store.uploadedBytes()).isEqualTo(2 * PART + 100);
    }

    @Test
    void resume_abandoned_abortsTheUpload() throws Exception {
        stopWithTwoPartsUp();
        uploads.resume(Objects.requireNonNull(file.journalled()), file, target("key", null), file)
                .abandon();
        uploads.close();
        assertThat(bucket.openUploads()).isEmpty();
    }

    private void stopWithTwoPartsUp() throws InterruptedException {
        FileUpload upload = begin(null);
        file.write(upload, 0, data(2 * PART + 100));
        awaitUploaded(upload, 2 * PART);
        upload.stop();
        assertThat(bucket.openUploads()).hasSize(1);
        store.drain();
    }

    // ---- any sequence

    @Test
    void anySequence_theObjectIsTheFile() {
        Seeded.check(15, this::writeAndCommitAtRandom);
    }

    private void writeAndCommitAtRandom(RandomGenerator random) throws Exception {
        int baseSize = random.nextBoolean() ? 0 : random.nextInt(3 * PART);
        FileUpload upload = begin(baseSize == 0 ? null : stored(baseSize));
        for (int i = random.nextInt(1, 9); i > 0; i--) {
            int length = random.nextBoolean() ? random.nextInt(1, 2 * BLOCK_SIZE) : 2 * BLOCK_SIZE;
            switch (random.nextInt(8)) {
                case 0 -> file.truncate(upload, random.nextInt(3 * PART));
                case 1 -> faults.next(PARTS, Fault.fail(Unavailable::new));
                case 2, 3 -> file.write(upload, random.nextInt(5) * (long) BLOCK_SIZE, random(random, length));
                default -> file.write(upload, file.size(), random(random, length));
            }
        }
        for (int tries = 0; ; tries++) {
            try {
                commit(upload);
                return;
            } catch (Unavailable e) {
                assertThat(tries).isLessThan(12);
            }
        }
    }

    // ----

    private FileUpload begin(@Nullable ObjectVersion base) {
        file = new FakeFile(
                base,
                base == null ? new byte[0] : TestData.of("key", base.size()).bytes());
        return uploads.begin(base, file, target("key", base), file);
    }

    private ObjectVersion stored(int size) {
        return bucket.putTestData("key", size);
    }

    private void commit(FileUpload upload) throws Exception {
        ObjectVersion version = upload.commit(file.size(), WriteCondition.ALWAYS, NeverCalledOff.INSTANCE);
        assertThat(version.size()).isEqualTo(file.size());
        assertThat(Arrays.mismatch(bytesOf("key", Math.toIntExact(file.size())), file.bytes()))
                .isEqualTo(-1);
    }

    private byte[] bytesOf(String key, int size) throws Exception {
        ObjectVersion version = bucket.head(key).version();
        assertThat(version.size()).isEqualTo(size);
        byte[] bytes = new byte[size];
        long offset = 0;
        for (var buffer : bucket.pieces(key)) {
            buffer.read(0, ByteBuffer.wrap(bytes, (int) offset, (int) buffer.size()));
            offset += buffer.size();
        }
        return bytes;
    }

    private static void awaitUploaded(FileUpload upload, long bytes) throws InterruptedException {
        while (upload.uploadedBytes() < bytes) {
            Thread.sleep(1);
        }
    }

    private void awaitNothingRuns() throws InterruptedException {
        while (uploads.running() > 0) {
            Thread.sleep(1);
        }
    }

    private static byte[] data(int length) {
        return TestData.of("written", length).bytes();
    }

    private static byte[] random(RandomGenerator random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static TargetProperties target(String key, @Nullable ObjectVersion base) {
        TargetProperties.Over over = base == null ? TargetProperties.Over.NOTHING : TargetProperties.Over.SAME_CONTENT;
        return new TargetProperties(
                key, over, new AtomicReference<>(), new AtomicReference<>(Collections.emptySortedMap()));
    }
}
