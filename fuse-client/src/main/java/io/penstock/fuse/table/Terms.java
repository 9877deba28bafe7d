package io.penstock.fuse.table;

/**
 * What INIT settled, once for the life of the mount.
 *
 * @param minor the minor protocol version
 * @param maxRequest maximum bytes that one request reads or writes
 * @param flags the bits of both flag fields
 * @param mount a random number, by which the store knows the mount's requests when they are sent again
 */
public record Terms(int minor, int maxRequest, long flags, long mount) {}
