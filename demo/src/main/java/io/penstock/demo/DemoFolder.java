package io.penstock.demo;

import io.penstock.core.NoSpace;
import io.penstock.settings.process.Folders;
import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The folder for a demo's files, below $TMPDIR or /tmp. */
public final class DemoFolder {
    private DemoFolder() {}

    /**
     * Creates an empty folder that only its user can access. The caller removes it.
     *
     * @param prefix the prefix of its name
     */
    public static Path create(String prefix) throws RefusedException {
        try {
            return Files.createTempDirectory(Folders.temporary(), prefix);
        } catch (IOException e) {
            throw refused(Folders.temporary(), e);
        }
    }

    /**
     * A demo's exception as a message for the user, with the remedy if the folder or its disk is the cause.
     *
     * @param folder the demo's folder
     */
    public static RefusedException refused(Path folder, IOException e) {
        boolean isOfFolder = e instanceof FileSystemException of
                && of.getFile() != null
                && Path.of(of.getFile()).startsWith(folder);
        String reason = Reason.of(e);
        return new RefusedException(
                isOfFolder || NoSpace.isSaidBy(reason)
                        ? reason + " (temporary files are in " + Folders.temporary() + "; set TMPDIR to another folder)"
                        : reason);
    }
}
