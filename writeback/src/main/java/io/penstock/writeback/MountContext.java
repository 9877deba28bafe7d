package io.penstock.writeback;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.writeback.bytes.FileResources;
import io.penstock.writeback.bytes.Reclaim;
import io.penstock.writeback.bytes.Snapshot;
import io.penstock.writeback.staging.Staging;
import io.penstock.writeback.survivors.SurvivorLog;
import io.penstock.writeback.upload.Uploads;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The resources shared by the written files of one mount. It knows no file.
 *
 * @param resources of the files' bytes
 * @param background runs commits
 * @param lastNumber of a written file
 * @param log records the files for the mount's next process; null if the mount ends with this one
 */
record MountContext(
        WritebackConfig config,
        ObjectStore store,
        FileResources resources,
        Uploads uploads,
        CommittedPages pages,
        Background background,
        CommitTiming timing,
        InstantSource clock,
        AtomicLong lastNumber,
        @Nullable SurvivorLog log) {

    /** Receives the pages of a version that was just committed, so that they need not be fetched from the store. */
    interface CommittedPages {
        /**
         * Caches the pages that it can. The others are fetched when they are read.
         *
         * @param content a snapshot of the whole version
         */
        void cache(ObjectVersion version, Snapshot content);
    }

    RetryPolicy retries() {
        return store.retries();
    }

    Reclaim reclaim() {
        return resources.reclaim();
    }

    Staging staging() {
        return resources.staging();
    }

    /** The deadline of a caller that begins to wait now: that of the enclosing call, if there is one. */
    Deadline deadline() {
        Deadline outer = Deadline.current();
        return outer == null ? retries().forWriting() : outer;
    }

    /** The number of the next written file. */
    long newNumber() {
        return lastNumber.incrementAndGet();
    }

    Instant now() {
        return clock.instant();
    }

    /** Whether the mount ends: then nothing more is committed. */
    boolean isClosed() {
        return background.isClosed();
    }
}
