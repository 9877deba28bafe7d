package io.penstock.cli.doctor;

import java.nio.file.Path;
import java.time.Duration;
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
 * @param trial what a temporary file on it showed; null if none was made
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
        @Nullable Trial trial) {

    boolean exists() {
        return folder.equals(existing);
    }

    /**
     * What a file system can do.
     *
     * @param direct whether files can be opened for direct I/O
     * @param holes whether space within a file can be given back
     * @param speed null if it was not measured
     */
    record Trial(boolean direct, boolean holes, @Nullable Speed speed) {}

    /**
     * The speed of a disk, past the kernel's page cache.
     *
     * @param writeMib MiB/s of sequential writes
     * @param readMib MiB/s of sequential reads
     * @param randomReads reads of 4 KiB a second, {@link DiskTrial#READERS} at a time
     * @param randomP99 the time that 99 of 100 of these took at most
     */
    record Speed(double writeMib, double readMib, double randomReads, Duration randomP99) {}
}
