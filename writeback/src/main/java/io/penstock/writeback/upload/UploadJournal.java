package io.penstock.writeback.upload;

import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.UploadListener;
import io.penstock.objectstore.UploadedPart;

/** Where a {@link FileUpload} records what a later run needs to resume it. A failure to record is not its failure. */
public interface UploadJournal {
    void created(MultipartUpload upload, PartLayout layout);

    /** @param crc32c of the part's bytes, by which a later run detects changes */
    void uploaded(UploadedPart part, int crc32c);

    /** The store has nothing left of it: it was completed or aborted, or has vanished. */
    void ended(MultipartUpload upload);

    /** The same for an upload made by a copy within the store. */
    default UploadListener copying(PartLayout layout) {
        return new UploadListener() {
            @Override
            public void began(MultipartUpload upload) {
                created(upload, layout);
            }

            @Override
            public void ended(MultipartUpload upload) {
                UploadJournal.this.ended(upload);
            }
        };
    }
}
