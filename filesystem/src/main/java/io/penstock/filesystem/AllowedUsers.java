package io.penstock.filesystem;

/** Whom the kernel lets use a mount, before owner, group and mode count: its option allow_other, mount.fuse3(8). */
public enum AllowedUsers {
    /** Who has mounted it: everything is private, whatever modes are shown. */
    MOUNTING,
    /** Everybody. */
    ALL
}
