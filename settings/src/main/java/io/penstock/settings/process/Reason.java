package io.penstock.settings.process;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** The reason for a failed file operation, in words: the JDK's message is often only the path. */
public final class Reason {
    private Reason() {}

    public static String of(IOException e) {
        return switch (e) {
            case AccessDeniedException denied -> "permission denied: " + denied.getFile();
            case NoSuchFileException missing -> "no such file: " + missing.getFile();
            case FileAlreadyExistsException existing -> "not a folder: " + existing.getFile();
            case FileSystemException other when other.getReason() != null -> other.getReason();
            default -> e.getMessage() == null ? e.toString() : e.getMessage();
        };
    }
}
