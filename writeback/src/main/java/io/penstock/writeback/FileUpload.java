package io.penstock.writeback;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.WriteCondition;
import java.io.IOException;

/** The way of one file's content to the store: parts that go up while it is written, and the commit. */
final class FileUpload {
    /** The blocks in the range are whole and at rest: parts that they complete may go up. Never waits. */
    void ready(ByteRange blocks) {
        throw new UnsupportedOperationException();
    }

    /** Bytes are going to change: parts that hold them, and are up or on their way, must go up again. Never waits. */
    void changed(ByteRange range) {
        throw new UnsupportedOperationException();
    }

    /** Makes the content, which does not change meanwhile, the object of this key. */
    ObjectVersion commit(long size, WriteCondition condition)
            throws ObjectStoreException, IOException, InterruptedException {
        throw new UnsupportedOperationException();
    }

    /** Cancels what is in flight and aborts the multipart upload behind, if there is one. */
    void abandon() {
        throw new UnsupportedOperationException();
    }
}
