package io.penstock.writeback.upload;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.content.Run;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The multipart upload at the store: created with its first part, or taken over from an earlier run. Parts of that run
 * count if the store still has them and the CRC32C of their bytes is unchanged. Safe for use by any number of threads.
 */
final class RemoteUpload {
    private static final Logger LOG = LoggerFactory.getLogger(RemoteUpload.class);

    private final ObjectStore store;
    private final String key;
    private final TargetProperties properties;
    private final UploadJournal journal;
    private final @Nullable JournalledUpload earlier;

    /** The first caller opens the upload; others wait. */
    @GuardedBy("this")
    private @Nullable FutureTask<MultipartUpload> opening;

    /** Written by the thread that opens the upload. */
    private volatile @Nullable MultipartUpload opened;

    /** The properties with which it was created; null if an earlier run created it. */
    private volatile @Nullable ObjectProperties created;

    /** The earlier run's parts at the store, until they are replaced. */
    private final Map<Integer, JournalledUpload.Part> confirmed = new ConcurrentHashMap<>();

    RemoteUpload(
            ObjectStore store, TargetProperties properties, UploadJournal journal, @Nullable JournalledUpload earlier) {
        this.store = store;
        this.key = properties.key();
        this.properties = properties;
        this.journal = journal;
        this.earlier = earlier;
        this.opened = earlier == null ? null : earlier.upload();
    }

    /** Ensures that there is an upload at the store. */
    public MultipartUpload open(PartLayout layout) throws ObjectStoreException, InterruptedException {
        FutureTask<MultipartUpload> task;
        synchronized (this) {
            if (opening == null) {
                opening = new FutureTask<>(() -> begin(layout));
            }
            task = opening;
        }
        task.run(); // does nothing if another thread has begun
        try {
            return task.get();
        } catch (ExecutionException e) {
            synchronized (this) {
                if (task.equals(opening)) {
                    opening = null;
                }
            }
            switch (e.getCause()) {
                case ObjectStoreException failure -> throw failure;
                case InterruptedException _ -> throw new InterruptedException();
                case null, default -> throw new IllegalStateException(e.getCause());
            }
        }
    }

    private MultipartUpload begin(PartLayout layout) throws ObjectStoreException, InterruptedException {
        if (earlier != null) {
            try {
                takeOver(earlier);
                return earlier.upload();
            } catch (ObjectStoreException.NotFound e) {
                LOG.info("The store no longer has the upload of '{}' from an earlier run: it is sent again", key);
                journal.ended(earlier.upload());
            }
        }
        ObjectProperties wanted = properties.ofNewContent(store);
        MultipartUpload upload = store.createUpload(key, wanted);
        created = wanted;
        opened = upload;
        journal.created(upload, layout);
        return upload;
    }

    private void takeOver(JournalledUpload earlier) throws ObjectStoreException, InterruptedException {
        for (UploadedPart there : store.parts(earlier.upload())) {
            JournalledUpload.Part noted = earlier.parts().get(there.number());
            if (noted != null && isSame(noted.part(), there)) {
                confirmed.put(there.number(), new JournalledUpload.Part(there, noted.crc32c()));
            }
        }
    }

    /** Ignores a checksum, which the store may keep but no journal has. */
    private static boolean isSame(UploadedPart noted, UploadedPart there) {
        return noted.etag().equals(there.etag()) && noted.size() == there.size();
    }

    /** Copies or sends the part, unless the store has it from an earlier run. */
    UploadedPart bring(MultipartUpload to, int number, Run run, FileContent content, Uploads uploads)
            throws ObjectStoreException, IOException, InterruptedException {
        JournalledUpload.Part there = confirmed.remove(number);
        ObjectVersion source = run.source();
        if (source != null) {
            UploadedPart part = store.copyPart(to, number, source, run.range());
            uploads.copied(part.size());
            return part;
        }
        try (FileContent.SnapshotBody body = content.body(run.range())) {
            if (there != null && isSame(there, body)) {
                return there.part();
            }
            UploadedPart part = store.uploadPart(to, number, body);
            body.sent();
            body.crc32c().ifPresent(crc -> journal.uploaded(part, crc));
            uploads.uploaded(part.size());
            return part;
        }
    }

    private static boolean isSame(JournalledUpload.Part there, FileContent.SnapshotBody body) {
        return there.part().size() == body.length()
                && body.crc32c().isPresent()
                && body.crc32c().getAsInt() == there.crc32c();
    }

    /**
     * Whether the object just made has these properties. For an earlier run's upload, asks the store if some may have
     * changed since it began: headers may have been set, or everything it wrote over cut off, and its encoding with it.
     */
    boolean has(ObjectProperties wanted) throws ObjectStoreException, InterruptedException {
        ObjectProperties given = created;
        if (given == null) {
            boolean isAsBegun =
                    properties.headers().get().isEmpty() && properties.over() != TargetProperties.Over.OTHER_CONTENT;
            return isAsBegun || store.properties(key).equals(wanted);
        }
        return given.equals(wanted);
    }

    public ObjectVersion complete(MultipartUpload upload, List<UploadedPart> parts, WriteCondition condition)
            throws ObjectStoreException, InterruptedException {
        ObjectVersion version = store.complete(upload, parts, condition);
        journal.ended(upload);
        return version;
    }

    /** Whether the store has, as far as known, an upload to complete or abort. */
    public boolean isThere() {
        return opened != null;
    }

    /** Aborts the upload at the store. Call once no part is in flight: one that arrives later stays. */
    public void abort() throws InterruptedException {
        MultipartUpload upload = opened;
        if (upload == null) {
            return;
        }
        try {
            store.abort(upload);
            journal.ended(upload);
        } catch (ObjectStoreException e) {
            LOG.warn(
                    "The incomplete upload {} of '{}' could not be aborted, and stays in the bucket until the next"
                            + " mount: {}",
                    upload.id(),
                    key,
                    e.getMessage());
        }
    }
}
