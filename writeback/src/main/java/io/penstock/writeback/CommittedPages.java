package io.penstock.writeback;

import io.penstock.core.ObjectVersion;
import io.penstock.writeback.bytes.Snapshot;

/** Receives the pages of a version that was just committed, so that they need not be fetched from the store. */
interface CommittedPages {
    /**
     * Caches the pages that it can. The others are fetched when they are read.
     *
     * @param content a snapshot of the whole version
     */
    void keep(ObjectVersion version, Snapshot content);
}
