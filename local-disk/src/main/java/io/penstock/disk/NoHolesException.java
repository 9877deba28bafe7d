package io.penstock.disk;

import java.nio.file.FileSystemException;

/** The file system can only free the space of whole files. */
public final class NoHolesException extends FileSystemException {
    private static final long serialVersionUID = 1L;

    public NoHolesException(String file) {
        super(file, null, "the file system cannot punch holes");
    }
}
