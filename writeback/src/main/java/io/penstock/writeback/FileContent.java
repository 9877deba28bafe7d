package io.penstock.writeback;

import io.penstock.core.ByteRange;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.UploadBody;
import java.io.IOException;
import java.util.List;

/** What a {@link FileUpload} reads of a written file. The file's side of the seam between content and upload. */
interface FileContent {
    /** The parts of the range that differ from the committed version below, whole blocks, in order. */
    List<ByteRange> dirty(ByteRange within);

    /**
     * The bytes of the range as they are now, held still until closed: a write meanwhile goes to a copy. What was not
     * written is read from the version below. Waits for that and for memory.
     */
    StillBody body(ByteRange range) throws ObjectStoreException, IOException, InterruptedException;

    /** A body whose bytes do not change. */
    interface StillBody extends UploadBody, AutoCloseable {
        @Override
        void close();
    }
}
