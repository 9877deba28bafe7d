package io.penstock.writeback.upload;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
import io.penstock.testing.Content;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.RecordingObjectStore;
import io.penstock.writeback.content.Crc32cJoin;
import io.penstock.writeback.upload.Uploads.PartSizes;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Files of which only sizes and checksums fit in a test, in a store that keeps no more. */
@Timeout(120)
final class LargeFilesTest {
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;
    private static final long TIB = 1L << 40;
    private static final TargetProperties NEW = new TargetProperties(
            "key",
            TargetProperties.Over.NOTHING,
            new AtomicReference<>(),
            new AtomicReference<>(Collections.emptySortedMap()));

    private final InMemoryObjectStore bucket = InMemoryObjectStore.keepingSizesOnly();
    private final RecordingObjectStore store = new RecordingObjectStore(bucket);
    private final WritebackLimits limits =
            new WritebackLimits(new WritebackLimits.Values(32, 32, 32, GIB, GIB, 8 * MIB));
    private final Uploads uploads =
            new Uploads(store, PartSizes.GROWING, 5 * TIB, limits, () -> false, System::nanoTime);

    @AfterEach
    void nothingIsLeft() {
        uploads.close();
        assertThat(bucket.openUploads()).isEmpty();
    }

    /** 10,000 parts of 8 MiB end at 78 GiB. */
    @Test
    void commit_streamOf100GiB_isWholeAndWentUpMeanwhile() throws Exception {
        MadeUpFile file = new MadeUpFile(null, 0);
        FileUpload upload = uploads.begin(null, file, NEW, NoJournal.INSTANCE);
        file.writeAll(upload, 100 * GIB + 5);
        while (upload.uploadedBytes() < 99 * GIB) {
            Thread.sleep(1);
        }
        checkObject(upload.commit(100 * GIB + 5, WriteCondition.ABSENT, NeverCalledOff.INSTANCE));
        assertThat(store.only(Call.UploadPart.class)).hasSizeLessThan(4_100);
    }

    @Test
    void commit_5TiB_fitsInTenThousandParts() throws Exception {
        MadeUpFile file = new MadeUpFile(null, 0);
        FileUpload upload = uploads.begin(null, file, NEW, NoJournal.INSTANCE);
        file.writeAll(upload, 5 * TIB);
        checkObject(upload.commit(5 * TIB, WriteCondition.ABSENT, NeverCalledOff.INSTANCE));
        assertThat(bucket.pieces("key")).hasSizeBetween(9_000, UploadedPart.MAX_NUMBER);
    }

    @Test
    void commit_5TiBOfWhichNothingIsUp_fitsInTenThousandParts() throws Exception {
        FileUpload upload = uploads.begin(null, new MadeUpFile(null, 0), NEW, NoJournal.INSTANCE);
        checkObject(upload.commit(5 * TIB, WriteCondition.ABSENT, NeverCalledOff.INSTANCE));
        assertThat(bucket.pieces("key")).hasSizeLessThanOrEqualTo(UploadedPart.MAX_NUMBER);
    }

    @Test
    void commit_allOfItsParts_haveItsDeadline() throws Exception {
        FileUpload upload = uploads.begin(null, new MadeUpFile(null, 0), NEW, NoJournal.INSTANCE);
        Deadline deadline = RetryPolicy.DEFAULT.forWriting();
        ObjectVersion _ = deadline.call(() -> upload.commit(GIB, WriteCondition.ABSENT, NeverCalledOff.INSTANCE));
        assertThat(store.only(Call.UploadPart.class)).hasSizeGreaterThan(10);
        assertThat(store.deadlines()).containsExactly(deadline);
    }

    @Test
    void commit_appendTo10GiB_sendsNoMoreThanWasAppended() throws Exception {
        append(10 * GIB, 20 * MIB);
        assertThat(store.uploadedBytes()).isEqualTo(20 * MIB);
        assertThat(store.copiedBytes()).isEqualTo(10 * GIB);
    }

    @Test
    void commit_appendTo10GiBAndABit_sendsTheBlockInWhichThatEndsToo() throws Exception {
        append(10 * GIB + 100, 1);
        assertThat(store.uploadedBytes()).isEqualTo(101);
        assertThat(store.copiedBytes()).isEqualTo(10 * GIB);
    }

    @Test
    void commit_appendTo1TiBWhileItIsWritten_goesUpBeforeTheCommit() throws Exception {
        ObjectVersion base = bucket.putTestData("key", TIB);
        MadeUpFile file = new MadeUpFile(base, TIB);
        FileUpload upload = uploads.begin(base, file, NEW, NoJournal.INSTANCE);
        file.writeAll(upload, TIB + 10 * GIB);
        while (upload.uploadedBytes() < 9 * GIB) {
            Thread.sleep(1);
        }
        upload.commit(TIB + 10 * GIB, new WriteCondition.Unchanged(base.etag()), NeverCalledOff.INSTANCE);
        assertThat(store.uploadedBytes()).isEqualTo(10 * GIB);
        assertThat(store.copiedBytes()).isEqualTo(TIB);
    }

    private void append(long size, long appended) throws Exception {
        ObjectVersion base = bucket.putTestData("key", size);
        MadeUpFile file = new MadeUpFile(base, size / BLOCK_SIZE * BLOCK_SIZE);
        FileUpload upload = uploads.begin(base, file, NEW, NoJournal.INSTANCE);
        file.writeAll(upload, size + appended);
        ObjectVersion version =
                upload.commit(size + appended, new WriteCondition.Unchanged(base.etag()), NeverCalledOff.INSTANCE);
        assertThat(version.size()).isEqualTo(size + appended);
        assertThat(store.gets()).isEmpty();
    }

    private void checkObject(ObjectVersion version) {
        long size = 0;
        int crc = 0;
        for (Content piece : bucket.pieces("key")) {
            Content.Measured measured = (Content.Measured) piece;
            crc = Crc32cJoin.join(crc, measured.crc32c(), measured.size());
            size += measured.size();
        }
        assertThat(size).isEqualTo(version.size());
        assertThat(crc).isEqualTo(MadeUpFile.crc32c(size));
    }
}
