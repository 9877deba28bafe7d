package io.penstock.writeback.upload;

import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.UploadedPart;

/** For uploads without staging. */
enum NoJournal implements UploadJournal {
    INSTANCE;

    @Override
    public void created(MultipartUpload upload, PartLayout layout) {}

    @Override
    public void uploaded(UploadedPart part, int crc32c) {}

    @Override
    public void ended(MultipartUpload upload) {}
}
