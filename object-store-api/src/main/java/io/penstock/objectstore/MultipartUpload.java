package io.penstock.objectstore;

/**
 * A multipart upload that has been created and neither completed nor aborted.
 *
 * @param operation carried by the object that it becomes
 */
public record MultipartUpload(String key, String id, OperationId operation) {}
