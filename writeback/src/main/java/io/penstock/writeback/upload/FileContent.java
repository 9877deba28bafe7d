package io.penstock.writeback.upload;

import io.penstock.core.ByteRange;
import io.penstock.objectstore.UploadBody;
import io.penstock.writeback.content.Run;
import java.io.IOException;
import java.util.List;

/**
 * The content of a written file, as a {@link FileUpload} reads it. The file's side of the seam between content and
 * upload.
 */
public interface FileContent {
    /**
     * The runs that make up the range, in order and without gaps: whole blocks but for the content's end. A block is
     * one that the store can copy only if all of its bytes up to the content's end lie in one version, one after the
     * other.
     */
    List<Run> runs(ByteRange within);

    /**
     * A snapshot of the range's bytes, until closed: writes in that time go to copies. Bytes that were not written
     * are read from the version below. Waits for that and for memory.
     *
     * @throws IOException also if that cannot be read: caused by the store's response
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
