package io.penstock.benchmarks;

import io.penstock.objectstore.ObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Penstock's own mounts, of objects that another client uploads if they are missing. */
final class TrainMount implements TrainTarget {
    private final FreshMounts mounts;
    private final ObjectStore store;
    private final String prefix;

    /** Null until the first mount. */
    private @Nullable MountProcess mount;

    /** The data set that is completely in the mount's cache; null if none is. */
    private @Nullable TrainData cached;

    /** @param prefix of the mounted folder; ends with a slash */
    TrainMount(FreshMounts mounts, ObjectStore store, String prefix) {
        this.mounts = mounts;
        this.store = store;
        this.prefix = prefix;
    }

    @Override
    public void provide(TrainData data) throws Exception {
        Set<String> names = names(data);
        if (names.size() >= data.files()) {
            return;
        }
        Map<String, Long> missing = new LinkedHashMap<>();
        for (TrainFile file : data.generated()) {
            if (!names.contains(file.name())) {
                missing.put(file.name(), file.size());
            }
        }
        System.err.printf("uploading %,d of %,d files to %s%s%n", missing.size(), data.files(), prefix, data.folder());
        try (SdkUploads uploads = new SdkUploads(mounts.server(), store.bucket())) {
            uploads.put(prefix + data.folder(), missing);
        }
    }

    private Set<String> names(TrainData data) throws Exception {
        String folder = prefix + data.folder();
        return RawListing.objects(store, folder).stream()
                .map(object -> object.version().key().substring(folder.length()))
                .filter(data::isOne)
                .collect(Collectors.toSet());
    }

    @Override
    public boolean hasCold() {
        return true;
    }

    @Override
    public void cold() throws Exception {
        unmount();
        mount = mounts.mount();
    }

    @Override
    public void warm(TrainData data) throws Exception {
        if (mount == null) {
            cold();
        }
        if (!data.equals(cached)) {
            TrainFiles.readAll(files(data));
            cached = data;
        }
        KernelCaches.drop();
    }

    @Override
    public List<Path> files(TrainData data) throws IOException, BenchException {
        return TrainFiles.all(root().resolve(data.folder()), data);
    }

    private Path root() {
        return Objects.requireNonNull(mount, "not mounted").path();
    }

    @Override
    public Path checkpoints() throws IOException {
        return Files.createDirectories(root().resolve("checkpoints"));
    }

    @Override
    public OptionalLong client() {
        return mount == null ? OptionalLong.empty() : OptionalLong.of(mount.pid());
    }

    /** The objects stay, as in the other benchmarks. If this run started the server, they are removed with it. */
    @Override
    public void removeData(TrainData data) throws Exception {
        unmount();
    }

    private void unmount() throws Exception {
        cached = null;
        if (mount != null) {
            mounts.unmount(mount);
            mount = null;
        }
    }
}
