package io.penstock.writeback.staging;

/**
 * A file that an earlier run wrote to another bucket, or to a server of another name, and did not commit. It waits for
 * a mount of that bucket, or for a user to state that it belongs to this one.
 *
 * @param namespace of the key: server and bucket, as in {@link io.penstock.core.Namespace}
 * @param size in bytes
 */
public record StrandedFile(String namespace, String key, long size) {}
