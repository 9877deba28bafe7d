package io.penstock.tools.doctor;

import io.penstock.settings.process.Folders;
import io.penstock.tools.measure.DiskTrial;
import io.penstock.tools.measure.DiskTrial.Outcome;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Gathers the facts of folders. Nothing stays on their disks. */
final class Disks {
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
    record Facts(
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

    /** How thoroughly a disk is examined. */
    enum Depth {
        /** Nothing is written. */
        LOOK,
        /** A temporary file of a few bytes shows the features of the file system. */
        TRY,
        /** A temporary file shows its speed, too. */
        MEASURE
    }

    private Disks() {}

    static Facts read(Path folder, Depth depth) throws IOException, InterruptedException {
        Path existing = Folders.existing(folder);
        FileStore store = Files.getFileStore(existing);
        boolean isWritable = Files.isWritable(existing);
        @Nullable Outcome trial = null;
        if (depth != Depth.LOOK && isWritable && store.getUsableSpace() > 0) {
            try (DiskTrial file = new DiskTrial(existing)) {
                trial = file.run(depth == Depth.MEASURE ? store.getUsableSpace() / 4 : 0);
            }
        }
        return new Facts(
                folder,
                existing,
                isWritable,
                store.type(),
                Folders.device(folder),
                store.getTotalSpace(),
                store.getUsableSpace(),
                !folder.equals(existing) || isEmpty(folder),
                trial);
    }

    private static boolean isEmpty(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.findAny().isEmpty();
        }
    }
}
