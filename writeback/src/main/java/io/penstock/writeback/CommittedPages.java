package io.penstock.writeback;

import io.penstock.core.ObjectVersion;
import io.penstock.writeback.bytes.Snapshot;

/** Where the pages of a version that was just committed go, so that they need not be read back from the store. */
interface CommittedPages {
    /**
     * Keeps what is there of it. What cannot be kept is fetched again when it is read.
     *
     * @param content all of the version, held still
     */
    void keep(ObjectVersion version, Snapshot content);
}
