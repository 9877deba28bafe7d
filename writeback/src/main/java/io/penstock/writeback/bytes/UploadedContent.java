package io.penstock.writeback.bytes;

import io.penstock.core.ByteRange;
import io.penstock.writeback.content.Run;
import io.penstock.writeback.upload.FileContent;
import java.io.IOException;
import java.util.List;

/** The content of a written file, as an upload reads it. */
public record UploadedContent(FileBytes bytes) implements FileContent {
    @Override
    public List<Run> runs(ByteRange within) {
        return bytes.runs(within);
    }

    @Override
    public SnapshotBody body(ByteRange range) throws IOException, InterruptedException {
        Snapshot body = bytes.hold(range);
        try {
            return body.summed();
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            body.close();
            throw e;
        }
    }
}
