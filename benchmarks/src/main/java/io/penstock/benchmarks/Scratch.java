package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A folder for everything that a benchmark leaves on the disk, removed by {@link #close}. */
final class Scratch implements AutoCloseable {
    private final Path root;

    /** @param parent on the disk that is measured */
    Scratch(Path parent) throws IOException {
        this.root = Files.createTempDirectory(parent.toRealPath(), "penstock-bench-");
    }

    Path root() {
        return root;
    }

    /** A folder of this name; made if it is not there. */
    Path folder(String name) throws IOException {
        return Files.createDirectories(root.resolve(name));
    }

    /** The folder of this name, with nothing in it. */
    Path emptyFolder(String name) throws IOException {
        delete(root.resolve(name));
        return folder(name);
    }

    @Override
    public void close() throws IOException {
        delete(root);
    }

    /** Deletes a folder and all that is in it; nothing if it is not there. */
    static void delete(Path tree) throws IOException {
        // Never through a mount: the files in it are somebody's bucket.
        List<Path> mounted = Mounts.below(tree);
        if (!mounted.isEmpty()) {
            throw new IOException(tree + " stays, because " + mounted.getFirst() + " is still mounted: umount -l it");
        }
        if (Files.exists(tree)) {
            Files.walkFileTree(tree, new Deleting());
        }
    }

    private static final class Deleting extends SimpleFileVisitor<Path> {
        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException failure) throws IOException {
            if (failure != null) {
                throw failure;
            }
            Files.delete(folder);
            return FileVisitResult.CONTINUE;
        }
    }
}
