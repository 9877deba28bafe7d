package io.penstock.benchmarks;

import io.penstock.fuse.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;

/** A folder for everything that a benchmark writes to the disk; {@link #close} removes it. */
final class Scratch implements AutoCloseable {
    private final Path root;

    /** @param parent on the measured disk */
    Scratch(Path parent) throws IOException {
        this.root = Files.createTempDirectory(parent.toRealPath(), "penstock-bench-");
    }

    Path root() {
        return root;
    }

    /** The folder of this name; created if it does not exist. */
    Path folder(String name) throws IOException {
        return Files.createDirectories(root.resolve(name));
    }

    /** The folder of this name, emptied. */
    Path emptyFolder(String name) throws IOException {
        delete(root.resolve(name));
        return folder(name);
    }

    @Override
    public void close() throws IOException {
        delete(root);
    }

    /** Deletes a folder and its content; does nothing if it does not exist. */
    static void delete(Path tree) throws IOException {
        // Never through a mount: its files belong to a bucket.
        Optional<Path> mounted = MountTable.read().entries().stream()
                .map(MountTable.Entry::mountPoint)
                .filter(mountPoint -> mountPoint.startsWith(tree))
                .findFirst();
        if (mounted.isPresent()) {
            throw new IOException(tree + " stays, because " + mounted.get() + " is still mounted: umount -l it");
        }
        if (Files.exists(tree)) {
            try (Stream<Path> all = Files.walk(tree)) {
                for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(each);
                }
            }
        }
    }
}
