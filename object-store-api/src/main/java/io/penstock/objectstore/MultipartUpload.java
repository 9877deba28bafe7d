package io.penstock.objectstore;

/**
 * A multipart upload that has been created and neither completed nor aborted.
 *
 * @param operation the id that the completed object carries
 */
public record MultipartUpload(String key, String id, OperationId operation) {}
