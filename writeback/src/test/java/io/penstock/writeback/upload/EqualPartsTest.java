package io.penstock.writeback.upload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ForwardingObjectStore;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.ObjectStoreException.Refused;
import io.penstock.objectstore.OperationId;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.RecordingObjectStore;
import io.penstock.testing.TestData;
import io.penstock.writeback.upload.Uploads.PartSizes;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A store that refuses parts of different sizes, like Cloudflare R2. */
@Timeout(120)
final class EqualPartsTest {
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;
    private static final int PART = 8 << 20;

    private final InMemoryObjectStore bucket = new InMemoryObjectStore();
    private final WritebackLimits limits = new WritebackLimits(new WritebackLimits.Values(8, 8, 8, GIB, GIB, PART));

    private RecordingObjectStore store = new RecordingObjectStore(new EqualParts(bucket));
    private Uploads uploads = uploads(PartSizes.EQUAL);

    @AfterEach
    void nothingIsLeft() {
        uploads.close();
        assertThat(bucket.openUploads()).isEmpty();
    }

    @Test
    void commit_oneByteChanged_sendsItsPartAndHasTheOthersCopied() throws Exception {
        changeOneByte(20 * MIB + 100);

        assertThat(store.uploadedBytes()).isEqualTo(PART);
        assertThat(store.copiedBytes()).isEqualTo(PART + 4 * MIB + 100);
        assertThat(store.only(Call.Complete.class)).hasSize(1);
    }

    @Test
    void commit_unequalAndRefused_goesUpOnceMoreInEqualParts() throws Exception {
        uploads.close();
        uploads = uploads(PartSizes.GROWING);

        changeOneByte(40 * MIB);
        assertThat(store.only(Call.Complete.class)).hasSize(2);

        store.drain();
        changeOneByte(40 * MIB);
        assertThat(store.only(Call.Complete.class)).as("once it is known").hasSize(1);
    }

    @Test
    void commit_calledOffBeforeItGoesUpOnceMore_sendsNothingMore() {
        uploads.close();
        uploads = uploads(PartSizes.GROWING);
        ObjectVersion base = bucket.putTestData("key", 40 * MIB);
        FakeFile file = new FakeFile(base, TestData.of("key", 40 * MIB).bytes());
        FileUpload upload = uploads.begin(base, file, target(TargetProperties.Over.SAME_CONTENT), file);
        file.write(upload, 9 * MIB, new byte[1]);

        assertThatThrownBy(() -> upload.commit(40 * MIB, new WriteCondition.Unchanged(base.etag()), new CalledOff()))
                .isInstanceOf(InterruptedException.class);

        assertThat(store.only(Call.Complete.class)).hasSize(1);
        upload.abandon();
    }

    /** Cancels too late for the first request, but in time for the second. */
    private static final class CalledOff implements FileUpload.Decision {
        @Override
        public OperationId operation() {
            return NeverCalledOff.INSTANCE.operation();
        }

        @Override
        public void begin(OperationId operation) {}

        @Override
        public void refused() {}

        @Override
        public void postpone() throws InterruptedException {
            throw new InterruptedException();
        }
    }

    @Test
    void commit_equalAndRefusedForAnotherReason_fails() {
        store = new RecordingObjectStore(new ForwardingObjectStore(bucket) {
            @Override
            public ObjectVersion complete(MultipartUpload upload, List<UploadedPart> parts, WriteCondition condition)
                    throws ObjectStoreException {
                throw new Refused("in any sizes", null);
            }
        });
        uploads.close();
        uploads = uploads(PartSizes.GROWING);
        FakeFile file = new FakeFile(null, TestData.of("key", 20 * MIB).bytes());
        FileUpload upload = uploads.begin(null, file, target(TargetProperties.Over.NOTHING), file);

        assertThatThrownBy(() -> upload.commit(20 * MIB, WriteCondition.ABSENT, NeverCalledOff.INSTANCE))
                .isInstanceOf(Refused.class);

        assertThat(store.only(Call.UploadPart.class)).hasSize(3);
        upload.abandon();
    }

    /** 10,000 parts of 8 MiB end at 78 GiB: larger content is uploaded at the commit, in larger parts. */
    @Test
    void commit_streamOf100GiB_isWhole() throws Exception {
        InMemoryObjectStore sizes = InMemoryObjectStore.keepingSizesOnly();
        store = new RecordingObjectStore(new EqualParts(sizes));
        uploads.close();
        uploads = uploads(PartSizes.EQUAL);
        MadeUpFile file = new MadeUpFile(null, 0);
        FileUpload upload = uploads.begin(null, file, target(TargetProperties.Over.NOTHING), NoJournal.INSTANCE);
        file.writeAll(upload, 100 * GIB + 5);

        ObjectVersion version = upload.commit(100 * GIB + 5, WriteCondition.ABSENT, NeverCalledOff.INSTANCE);

        assertThat(version.size()).isEqualTo(100 * GIB + 5);
        assertThat(sizes.pieces("key")).hasSizeLessThanOrEqualTo(UploadedPart.MAX_NUMBER);
    }

    private void changeOneByte(long size) throws Exception {
        ObjectVersion base = bucket.putTestData("key", size);
        FakeFile file = new FakeFile(base, TestData.of("key", size).bytes());
        FileUpload upload = uploads.begin(base, file, target(TargetProperties.Over.SAME_CONTENT), file);
        file.write(upload, 9 * MIB, new byte[1]);

        assertThat(upload.commit(size, new WriteCondition.Unchanged(base.etag()), NeverCalledOff.INSTANCE)
                        .size())
                .isEqualTo(size);
    }

    private Uploads uploads(PartSizes sizes) {
        return new Uploads(store, sizes, 5L << 40, limits, () -> false, System::nanoTime);
    }

    private static TargetProperties target(TargetProperties.Over over) {
        return new TargetProperties(
                "key", over, new AtomicReference<>(), new AtomicReference<>(Collections.emptySortedMap()));
    }

    private static final class EqualParts extends ForwardingObjectStore {
        EqualParts(ObjectStore store) {
            super(store);
        }

        @Override
        public ObjectVersion complete(MultipartUpload upload, List<UploadedPart> parts, WriteCondition condition)
                throws ObjectStoreException, InterruptedException {
            long size = parts.getFirst().size();
            for (UploadedPart part : parts) {
                if (part.equals(parts.getLast()) ? part.size() > size : part.size() != size) {
                    throw new Refused("All non-trailing parts must have the same length.", null);
                }
            }
            return super.complete(upload, parts, condition);
        }
    }
}
