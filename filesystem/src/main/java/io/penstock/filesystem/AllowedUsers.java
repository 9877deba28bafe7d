package io.penstock.filesystem;

/**
 * The users that may use a mount at all, before the kernel checks owner, group and mode: the mount option allow_other,
 * mount.fuse3(8).
 */
public enum AllowedUsers {
    /** The user that mounted it: everything is private, whatever the modes shown. */
    MOUNTING,
    /** Everybody. */
    ALL
}
