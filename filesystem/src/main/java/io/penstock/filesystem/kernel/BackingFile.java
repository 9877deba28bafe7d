package io.penstock.filesystem.kernel;

import io.penstock.cache.disk.WholeFile;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A cache file that the kernel reads directly, shared by all handles on one version of an object. */
public final class BackingFile implements AutoCloseable {
    private final BackingFiles kernel;
    private final @Nullable WholeFile file;
    private final int id;

    /**
     * Hands the file to the kernel.
     *
     * @param file the whole object; closed together with this, or if this constructor fails
     */
    public BackingFile(BackingFiles kernel, WholeFile file) throws IOException {
        this.kernel = kernel;
        this.file = file;
        try {
            this.id = kernel.open(file.path());
        } catch (IOException | RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    /**
     * One that an earlier process of this mount handed to the kernel, which keeps it open.
     *
     * @param file null if the cache no longer has it
     */
    public BackingFile(BackingFiles kernel, @Nullable WholeFile file, int id) {
        this.kernel = kernel;
        this.file = file;
        this.id = id;
    }

    public int id() {
        return id;
    }

    @Override
    public void close() {
        kernel.close(id);
        if (file != null) {
            file.close();
        }
    }
}
