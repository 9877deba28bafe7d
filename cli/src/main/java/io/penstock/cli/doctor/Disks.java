package io.penstock.cli.doctor;

import io.penstock.cli.doctor.DiskFacts.Trial;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Gathers the facts of folders. Nothing stays on their disks. */
final class Disks {
    /** How thoroughly a disk is examined. */
    enum Depth {
        /** Nothing is written. */
        LOOK,
        /** A temporary file of a few bytes shows what the file system can do. */
        TRY,
        /** A temporary file shows its speed, too. */
        MEASURE
    }

    private Disks() {}

    static DiskFacts read(Path folder, Depth depth) throws IOException, InterruptedException {
        Path existing = existing(folder);
        FileStore store = Files.getFileStore(existing);
        boolean isWritable = Files.isWritable(existing);
        @Nullable Trial trial = null;
        if (depth != Depth.LOOK && isWritable && store.getUsableSpace() > 0) {
            try (DiskTrial file = new DiskTrial(existing)) {
                trial = file.run(depth == Depth.MEASURE ? store.getUsableSpace() / 4 : 0);
            }
        }
        return new DiskFacts(
                folder,
                existing,
                isWritable,
                store.type(),
                device(folder),
                store.getTotalSpace(),
                store.getUsableSpace(),
                !folder.equals(existing) || isEmpty(folder),
                trial);
    }

    /** The number of the file system that has the folder, or will have it. */
    static long device(Path folder) throws IOException {
        return (long) Files.getAttribute(existing(folder), "unix:dev");
    }

    private static Path existing(Path folder) throws IOException {
        for (Path path = folder; path != null; path = path.getParent()) {
            if (Files.isDirectory(path)) {
                return path;
            } else if (Files.exists(path)) {
                throw new IOException(path + " is not a folder");
            }
        }
        throw new NoSuchFileException(folder.toString());
    }

    private static boolean isEmpty(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.findAny().isEmpty();
        }
    }
}
