package io.penstock.filesystem;

/**
 * The users that the kernel lets use a mount, before owner, group and mode count: its option allow_other,
 * mount.fuse3(8).
 */
public enum AllowedUsers {
    /** The user that mounted it: everything is private, whatever modes are shown. */
    MOUNTING,
    /** Everybody. */
    ALL
}
