package io.penstock.cli.demo;

import io.penstock.cli.process.Reason;
import io.penstock.cli.process.RefusedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The folder for a demo's files, below $TMPDIR or /tmp. */
public final class DemoFolder {
    private DemoFolder() {}

    /**
     * Makes an empty one, for its user alone, which the caller removes.
     *
     * @param prefix of its name
     */
    public static Path create(String prefix) throws RefusedException {
        try {
            return Files.createTempDirectory(parent(), prefix);
        } catch (IOException e) {
            throw refused(e);
        }
    }

    /** The exception of a file operation in it, in words for the user. */
    public static RefusedException refused(IOException e) {
        return new RefusedException(
                Reason.of(e) + " (temporary files are in " + parent() + "; name another folder with TMPDIR=…)");
    }

    private static Path parent() {
        return Path.of(System.getProperty("java.io.tmpdir", "/tmp"));
    }
}
