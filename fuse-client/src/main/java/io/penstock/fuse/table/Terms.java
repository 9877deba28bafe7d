package io.penstock.fuse.table;

/**
 * What INIT settled, once for the life of the mount.
 *
 * @param minor the minor protocol version
 * @param maxRequest maximum bytes that one request reads or writes
 * @param flags the bits of both flag fields
 */
public record Terms(int minor, int maxRequest, long flags) {}
