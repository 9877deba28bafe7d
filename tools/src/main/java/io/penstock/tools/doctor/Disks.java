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

/** Gathers facts about folders. Leaves nothing on their disks. */
final class Disks {
    /**
     * A folder of a mount, and its disk.
     *
     * @param folder as configured
     * @param existing the folder, or its nearest ancestor that exists
     * @param writable whether this process may create files in {@code existing}
     * @param type the file system's type, such as {@code ext4}
     * @param device its number; two folders with the same number are on the same file system
     * @param totalBytes the size of the file system
     * @param usableBytes the bytes that this user may still write
     * @param empty whether the folder is empty, or does not exist
     * @param trial the result of a trial with a temporary file; null if there was none
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
        /** A temporary file also shows its speed. */
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
