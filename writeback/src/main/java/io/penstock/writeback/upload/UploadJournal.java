package io.penstock.writeback.upload;

import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.UploadListener;
import io.penstock.objectstore.UploadedPart;

/** Where a {@link FileUpload} notes the records with which a later run resumes it. Failing to is not its failure. */
public interface UploadJournal {
    void created(MultipartUpload upload, PartLayout layout);

    /** @param crc32c of the part's bytes, by which a later run knows whether they are still the same */
    void uploaded(UploadedPart part, int crc32c);

    /** There is nothing left of it at the store: it was completed, or aborted, or has vanished. */
    void ended(MultipartUpload upload);

    /** The same of an upload that the store's copy makes. */
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
