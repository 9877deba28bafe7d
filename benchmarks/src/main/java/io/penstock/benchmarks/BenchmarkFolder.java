package io.penstock.benchmarks;

import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.S3ObjectStore;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The part of a bucket that a benchmark writes to; mounts show only this part.
 *
 * @param name all keys begin with it and a slash
 */
record BenchmarkFolder(String bucket, String name) {
    BenchmarkFolder {
        name = name.replaceAll("^/+|/+$", "");
    }

    String keyPrefix() {
        return name + "/";
    }

    /** The mount's own S3 client, for the raw ceilings. */
    ObjectStore connect(S3Target server, PlaceOptions place, Resources resources) throws Exception {
        return resources.add(S3ObjectStore.connect(server.config(bucket, place.httpClient()), keyPrefix()));
    }

    FreshMounts mounts(Path home, S3Target server, PlaceOptions place, Scratch scratch, Resources resources)
            throws IOException {
        return new FreshMounts(
                home.resolve("bin/penstock"), bucket + "/" + name, server, place.mountOptions(), scratch, resources);
    }
}
