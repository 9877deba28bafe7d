package io.penstock.objectstore;

/** A multipart upload that has been created and neither completed nor aborted. */
public record MultipartUpload(String key, String id) {}
