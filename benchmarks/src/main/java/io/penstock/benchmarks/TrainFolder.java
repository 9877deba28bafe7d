package io.penstock.benchmarks;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A folder that belongs to somebody else: another client's mount, or a bare disk. Missing files are written to it.
 * {@link #close} removes them and the folders created for them, but never a file that existed before.
 */
final class TrainFolder implements TrainTarget, AutoCloseable {
    private final Path root;
    private final OptionalLong client;
    private final boolean keep;

    /** In the order of their creation. On a signal, another thread closes this. */
    @GuardedBy("this")
    private final List<Path> made = new ArrayList<>();

    /** Created by this, with all of its content; null before. */
    private volatile @Nullable Path checkpoints;

    /** @param keep whether the files stay */
    TrainFolder(Path root, OptionalLong client, boolean keep) {
        this.root = root;
        this.client = client;
        this.keep = keep;
    }

    @Override
    public void provide(TrainData data) throws Exception {
        Path folder = root.resolve(data.folder());
        if (TrainFiles.list(folder, data).size() >= data.files()) {
            return;
        }
        long usable = Files.getFileStore(root).getUsableSpace();
        if (usable < data.totalBytes()) {
            throw new BenchException(root + " has " + (usable >> 30) + " GiB free, and the files take "
                    + ((data.totalBytes() >> 30) + 1) + ": give fewer --files");
        }
        System.err.printf("writing %,d files to %s%n", data.files(), folder);
        make(folder.resolveSibling(".").normalize());
        make(folder);
        for (TrainFile file : data.generated()) {
            Path path = folder.resolve(file.name());
            if (!Files.exists(path)) {
                remember(path);
                RandomBytes.write(path, file.name(), file.size());
            }
        }
    }

    private void make(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            Files.createDirectory(folder);
            remember(folder);
        }
    }

    private synchronized void remember(Path path) {
        made.add(path);
    }

    @Override
    public boolean hasCold() {
        return false;
    }

    @Override
    public void cold() throws Exception {
        KernelCaches.drop();
    }

    @Override
    public void warm(TrainData data) throws Exception {
        KernelCaches.drop();
    }

    @Override
    public List<Path> files(TrainData data) throws IOException, BenchException {
        return TrainFiles.all(root.resolve(data.folder()), data);
    }

    @Override
    public Path checkpoints() throws IOException {
        Path folder = Files.createDirectory(root.resolve("penstock-bench-checkpoints"));
        checkpoints = folder;
        return folder;
    }

    @Override
    public OptionalLong client() {
        return client;
    }

    @Override
    public void removeData(TrainData data) throws IOException {
        close();
    }

    @Override
    public synchronized void close() throws IOException {
        // On a signal, the checkpoints are still there.
        Path written = checkpoints;
        if (written != null) {
            Scratch.delete(written);
        }
        if (!keep) {
            for (Path path : made.reversed()) {
                Files.deleteIfExists(path);
            }
            made.clear();
        }
    }
}
