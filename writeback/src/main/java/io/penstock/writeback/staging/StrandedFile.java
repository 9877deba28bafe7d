package io.penstock.writeback.staging;

/**
 * A file that an earlier run wrote to another bucket, or to a server by another name, and has not committed. It
 * waits for a mount of that, or for a user's statement that it belongs to this one.
 *
 * @param namespace of the key: server and bucket, as {@link io.penstock.core.Namespace} has it
 * @param size in bytes
 */
public record StrandedFile(String namespace, String key, long size) {}
