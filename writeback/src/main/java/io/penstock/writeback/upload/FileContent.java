package io.penstock.writeback.upload;

import io.penstock.core.ByteRange;
import io.penstock.objectstore.UploadBody;
import io.penstock.writeback.content.Run;
import java.io.IOException;
import java.util.List;

/**
 * The content of a written file as read by a {@link FileUpload}: the file's side of the interface between content and
 * upload.
 */
public interface FileContent {
    /**
     * The runs of the range, in order and without gaps: whole blocks except at the content's end. The store can copy a
     * block only if all its bytes up to the content's end are consecutive in one version.
     */
    List<Run> runs(ByteRange within);

    /**
     * A snapshot of the range's bytes until it is closed: later writes go to copies. Reads bytes that were not written
     * from the version below. Waits for that and for memory.
     *
     * @throws IOException also if those bytes cannot be read: caused by the store's response
     */
    SnapshotBody body(ByteRange range) throws IOException, InterruptedException;

    /** A body whose bytes do not change. */
    interface SnapshotBody extends UploadBody, AutoCloseable {
        /** The store has these bytes as a part: the content needs less memory for them. */
        void sent();

        @Override
        void close();
    }
}
