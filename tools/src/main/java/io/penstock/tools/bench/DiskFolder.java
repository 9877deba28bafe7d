package io.penstock.tools.bench;

import io.penstock.fuse.MountTable;
import io.penstock.settings.ByteSizes;
import io.penstock.settings.process.Folders;
import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/**
 * A folder that a run creates on a disk.
 *
 * @param path its path, without symbolic links
 */
record DiskFolder(Path path) {
    /** The prefix of the names of all folders that a run creates. */
    static final String PREFIX = "penstock-bench-";

    /**
     * Creates a folder on the disk of a cache folder that need not exist yet: next to the cache folder if possible,
     * because that is for Penstock alone.
     *
     * @throws RefusedException if it cannot be created
     */
    static DiskFolder besideCache(Path cache) throws RefusedException {
        try {
            Path existing = Folders.existing(cache);
            Path parent = Objects.requireNonNullElse(existing.getParent(), existing);
            boolean isBeside = existing.equals(cache)
                    && Files.isWritable(parent)
                    && Folders.device(parent) == Folders.device(cache);
            return make(isBeside ? parent : existing);
        } catch (IOException e) {
            throw new RefusedException("the disk of the cache folder " + cache + " cannot be used: " + Reason.of(e)
                    + "; choose another folder with --cache");
        }
    }

    /** @throws RefusedException if it cannot be created */
    static DiskFolder in(Path parent) throws RefusedException {
        try {
            return make(parent);
        } catch (IOException e) {
            throw new RefusedException(parent + " cannot be written to: " + Reason.of(e));
        }
    }

    private static DiskFolder make(Path parent) throws IOException {
        return new DiskFolder(Files.createTempDirectory(parent, PREFIX).toRealPath());
    }

    long usableBytes() throws IOException {
        return Files.getFileStore(path).getUsableSpace();
    }

    /** @throws RefusedException if the folder cannot be written to, or its disk has fewer bytes free */
    static void requireRoom(Path folder, long bytes, String advice) throws IOException, RefusedException {
        if (!Files.isWritable(folder)) {
            throw new RefusedException("this user cannot write to " + folder);
        }
        long usable = Files.getFileStore(folder).getUsableSpace();
        if (usable < bytes) {
            throw new RefusedException("the benchmark needs " + ByteSizes.about(bytes) + " on the disk of " + folder
                    + ", but only " + ByteSizes.about(usable) + " are free; " + advice);
        }
    }

    /** Removes the folder and its content unless something is mounted there: files in a mount belong to a bucket. */
    void remove() throws IOException {
        if (!MountTable.read().below(path).isEmpty()) {
            throw new IOException("a file system is mounted in it");
        }
        Folders.delete(path);
    }
}
