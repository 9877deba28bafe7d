package io.penstock.objectstore;

/**
 * Told of a multipart upload that a call of the store makes by itself, so that it can be aborted if this process ends
 * before the call does. Called by the thread that makes the call.
 */
public interface UploadListener {
    /** There is an upload, of which nothing has been sent or copied. */
    void began(MultipartUpload upload);

    /** Nothing is left of it at the store: it was completed or aborted. Not called if that could not be done. */
    void ended(MultipartUpload upload);
}
