package io.penstock.filesystem;

/**
 * How objects look as files.
 *
 * @param uid owner of everything
 * @param gid group of everything
 * @param fileMode permission bits of files, such as 0644
 * @param dirMode permission bits of directories, such as 0755
 */
public record FileSystemConfig(int uid, int gid, int fileMode, int dirMode) {}
