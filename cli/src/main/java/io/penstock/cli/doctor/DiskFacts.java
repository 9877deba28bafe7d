package io.penstock.cli.doctor;

import io.penstock.cli.measure.DiskTrial.Outcome;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A folder of a mount, and the disk that it is on.
 *
 * @param folder as the settings name it
 * @param existing the folder, or the nearest of those above it that exists
 * @param writable whether this process may make files in {@code existing}
 * @param type of the file system, such as {@code ext4}
 * @param device its number; two folders with one number are on one file system
 * @param totalBytes of the file system
 * @param usableBytes that this user may still write
 * @param empty whether the folder has nothing in it, or does not exist
 * @param trial the result of a temporary file on it; null if none was made
 */
record DiskFacts(
        Path folder,
        Path existing,
        boolean writable,
        String type,
        long device,
        long totalBytes,
        long usableBytes,
        boolean empty,
        @Nullable Outcome trial) {

    boolean exists() {
        return folder.equals(existing);
    }
}
