package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The folder with the data sets. One thread. */
interface TrainPlace {
    /** Called before anything is read of a data set, which may have to be made. Returns the folder. */
    Path begin(TrainWorkload.Model model) throws Exception;

    /** Whether {@link #cold} can be called repeatedly. */
    boolean hasCold();

    /** The folder, with nothing of it in any cache. */
    Path cold() throws Exception;

    /** The folder, with this data set in its client's cache on the disk, and nothing in memory. */
    Path cached(TrainWorkload.Model model) throws Exception;

    /** The process that serves the folder; empty if it is unknown or is the kernel. */
    OptionalLong client();

    /** Called when no more is read of a data set. */
    void end(TrainWorkload.Model model) throws Exception;

    /** Penstock's own mounts. The data sets stay in the bucket. */
    final class Mounted implements TrainPlace {
        private final BenchFolder bucket;

        /** Null until the first mount. */
        private @Nullable MountProcess mount;

        /** The data set that is completely in the mount's cache; null if none is. */
        private TrainWorkload.@Nullable Model cached;

        Mounted(BenchFolder bucket) {
            this.bucket = bucket;
        }

        @Override
        public Path begin(TrainWorkload.Model model) throws Exception {
            return cold();
        }

        @Override
        public boolean hasCold() {
            return true;
        }

        @Override
        public Path cold() throws Exception {
            unmount();
            MountProcess fresh = bucket.mount();
            mount = fresh;
            return fresh.path();
        }

        @Override
        public Path cached(TrainWorkload.Model model) throws Exception {
            Path root = mount == null ? cold() : mount.path();
            if (cached != model) {
                Dlio.readAll(root, model);
                cached = model;
            }
            KernelCaches.drop();
            return root;
        }

        @Override
        public OptionalLong client() {
            return mount == null ? OptionalLong.empty() : OptionalLong.of(mount.pid());
        }

        @Override
        public void end(TrainWorkload.Model model) throws Exception {
            unmount();
        }

        private void unmount() throws Exception {
            cached = null;
            if (mount != null) {
                bucket.unmount(mount);
                mount = null;
            }
        }
    }

    /**
     * A folder that is not Penstock's: another client's mount, or a bare disk. Data sets that were not there are
     * removed.
     */
    final class Folder implements TrainPlace, AutoCloseable {
        private final Path root;
        private final OptionalLong client;
        private final boolean keep;

        /** The data set's folder if this run has made it. On a signal, another thread closes this. */
        private volatile @Nullable Path made;

        /** @param keep whether data sets stay */
        Folder(Path root, OptionalLong client, boolean keep) {
            this.root = root;
            this.client = client;
            this.keep = keep;
        }

        @Override
        public Path begin(TrainWorkload.Model model) {
            Path folder = root.resolve(model.label());
            if (!keep && !Files.exists(folder)) {
                made = folder;
            }
            return root;
        }

        @Override
        public boolean hasCold() {
            return false;
        }

        @Override
        public Path cold() throws IOException, InterruptedException {
            KernelCaches.drop();
            return root;
        }

        @Override
        public Path cached(TrainWorkload.Model model) throws IOException, InterruptedException {
            KernelCaches.drop();
            return root;
        }

        @Override
        public OptionalLong client() {
            return client;
        }

        @Override
        public void end(TrainWorkload.Model model) throws IOException {
            close();
        }

        @Override
        public void close() throws IOException {
            Path folder = made;
            if (folder != null) {
                Scratch.delete(folder);
            }
        }
    }
}
