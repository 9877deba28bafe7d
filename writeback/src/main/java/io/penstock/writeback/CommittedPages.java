package io.penstock.writeback;

import io.penstock.core.ObjectVersion;
import io.penstock.writeback.bytes.Snapshot;

/** Where the pages of a version that was just committed go, so that they need not be read back from the store. */
interface CommittedPages {
    /**
     * Caches the pages of the version that it can. The others are fetched again when they are read.
     *
     * @param content a snapshot of all of the version
     */
    void keep(ObjectVersion version, Snapshot content);
}
