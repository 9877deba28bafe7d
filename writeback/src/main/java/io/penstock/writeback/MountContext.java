package io.penstock.writeback;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.RetryPolicy;
import java.time.Instant;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/**
 * What the written files of one mount use. It knows no file.
 *
 * @param lookup settles commits in doubt
 * @param background runs commits
 */
record MountContext(
        WritebackConfig config,
        ObjectStore store,
        BaseContent base,
        Reclaim reclaim,
        Staging staging,
        Upload.Factory uploads,
        CommittedPages pages,
        StoreLookup lookup,
        Background background,
        Pacing pacing,
        InstantSource clock) {

    RetryPolicy retries() {
        return store.retries();
    }

    BlockMemory memory() {
        return reclaim.memory();
    }

    /** The layer below a file that has nothing staged. */
    Ground ground(@Nullable ObjectVersion version) {
        return new Ground(version, base, staging.newFile());
    }

    /** The deadline of a caller that begins to wait now: that of the call which this is a part of, if there is one. */
    Deadline deadline() {
        Deadline outer = Deadline.current();
        return outer == null ? retries().forWriting() : outer;
    }

    Instant now() {
        return clock.instant();
    }

    /** Whether the mount ends: nothing is committed any more. */
    boolean isClosed() {
        return background.isClosed();
    }
}
