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
 * The multipart upload at the store: created when its first part is sent, or taken over from an earlier run, of which
 * those parts count that the store still has and whose bytes, by their CRC32C, are still the same. Safe for use by any
 * number of threads.
 */
final class RemoteUpload {
    private static final Logger LOG = LoggerFactory.getLogger(RemoteUpload.class);

    private final ObjectStore store;
    private final String key;
    private final TargetProperties properties;
    private final UploadJournal journal;
    private final @Nullable JournalledUpload earlier;

    /** The first caller opens it, the others wait. */
    @GuardedBy("this")
    private @Nullable FutureTask<MultipartUpload> opening;

    /** Written by the thread that opens it. */
    private volatile @Nullable MultipartUpload opened;

    /** The properties that it was created with; null if that was in an earlier run. */
    private volatile @Nullable ObjectProperties created;

    /** The parts of the earlier run at the store, until they are replaced. */
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

    /** Sees to it that there is an upload at the store. */
    public MultipartUpload open(PartLayout layout) throws ObjectStoreException, InterruptedException {
        FutureTask<MultipartUpload> task;
        synchronized (this) {
            if (opening == null) {
                opening = new FutureTask<>(() -> begin(layout));
            }
            task = opening;
        }
        task.run(); // does nothing if another has begun
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
                LOG.info("The upload of '{}' that an earlier run began is gone: it begins anew", key);
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

    /** The store may keep a checksum of it, which no journal has. */
    private static boolean isSame(UploadedPart noted, UploadedPart there) {
        return noted.etag().equals(there.etag()) && noted.size() == there.size();
    }

    /** Copies the part or sends it, unless the store has it from an earlier run. */
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
     * Whether the object that was just made has these properties. After an earlier run's upload the store is asked if some may
     * have changed since it began: headers may have been set, or all that it wrote over been cut off, and its encoding with
     * that.
     */
    boolean has(ObjectProperties wanted) throws ObjectStoreException, InterruptedException {
        ObjectProperties given = created;
        if (given == null) {
            boolean isAsBegun =
                    properties.kept().get().isEmpty() && properties.over() != TargetProperties.Over.OTHER_CONTENT;
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

    /** Whether there is, as far as is known, something at the store that has to be completed or aborted. */
    public boolean isThere() {
        return opened != null;
    }

    /**
     * Aborts the upload at the store. To be called once no part is in flight any more: one that arrives later stays.
     */
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
                    "The incomplete upload {} of '{}' is in the bucket until the next mount: {}",
                    upload.id(),
                    key,
                    e.getMessage());
        }
    }
}
