package io.penstock.tools.bench;

import io.penstock.disk.SystemCalls;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A measured folder, and how to empty the caches of its files. */
sealed interface MeasuredFolder permits MeasuredFolder.Plain, PenstockMount {
    Location location();

    Path path();

    FolderWork.Kept kept();

    /** Whether {@link #forget} leaves nothing in any cache. */
    boolean becomesCold();

    /**
     * Drops the cached data of files.
     *
     * @param work the work that created them
     */
    void forget(FolderWork work) throws IOException, RefusedException, InterruptedException;

    /** Drops the files' data from caches in memory, as far as possible. */
    void forgetMemory(FolderWork work) throws IOException, RefusedException, InterruptedException;

    /** Frees the space in a cache that others use, before the files are removed. */
    void release(FolderWork work) throws IOException, RefusedException, InterruptedException;

    /** Makes the kernel drop its pages of files. */
    static void dropPages(List<Path> files) throws IOException {
        for (Path file : files) {
            SystemCalls.dropPages(file);
        }
    }

    /** Any folder. Caches of its files other than the kernel's are unknown. */
    record Plain(Path path) implements MeasuredFolder {
        @Override
        public Location location() {
            return new Location(
                    Location.Kind.FOLDER,
                    path.toString(),
                    path.toString(),
                    "the kernel's pages are dropped before each read; other caches may remain");
        }

        @Override
        public FolderWork.Kept kept() {
            return FolderWork.Kept.BY_FSYNC;
        }

        @Override
        public boolean becomesCold() {
            return false;
        }

        @Override
        public void forget(FolderWork work) throws IOException {
            dropPages(work.files());
        }

        @Override
        public void forgetMemory(FolderWork work) throws IOException {
            dropPages(work.files());
        }

        @Override
        public void release(FolderWork work) {}
    }
}
