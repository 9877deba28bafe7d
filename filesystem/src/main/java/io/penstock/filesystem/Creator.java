package io.penstock.filesystem;

/** The user that creates something: its owner and group, by number. */
public record Creator(int uid, int gid) {}
