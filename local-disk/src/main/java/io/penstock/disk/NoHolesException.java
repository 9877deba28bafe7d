package io.penstock.disk;

import java.nio.file.FileSystemException;

/** The file system gives space back only with a whole file. */
public final class NoHolesException extends FileSystemException {
    private static final long serialVersionUID = 1L;

    public NoHolesException(String file) {
        super(file, null, "the file system cannot punch holes");
    }
}
