package io.penstock.objectstore;

/**
 * Notified of a multipart upload that a call of the store makes internally, so that it can be aborted if this process
 * ends before the call does. Called by the thread that makes the call.
 */
public interface UploadListener {
    /** Does nothing. */
    UploadListener NOBODY = new UploadListener() {
        @Override
        public void began(MultipartUpload upload) {}

        @Override
        public void ended(MultipartUpload upload) {}
    };

    /** The upload exists; nothing has been sent or copied yet. */
    void began(MultipartUpload upload);

    /** The upload is completed or aborted, and the store retains nothing of it. Not called if the abort failed. */
    void ended(MultipartUpload upload);
}
