package io.penstock.benchmarks;

import java.io.IOException;
import java.net.URI;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that say which server to use. */
final class ServerOptions {
    @Option(
            names = "--endpoint",
            paramLabel = "<url>",
            description = "An S3-compatible server that runs already, with credentials as the AWS SDK finds them."
                    + " Default: MinIO is started on a scratch folder where there is one (PENSTOCK_MINIO, PATH,"
                    + " ~/.cache/penstock/bin), else S3Proxy.")
    private @Nullable URI endpoint;

    @Option(names = "--region", paramLabel = "<region>", description = "Default: the bucket is asked.")
    private @Nullable String region;

    @Option(
            names = "--path-style",
            arity = "0..1",
            fallbackValue = "true",
            defaultValue = "true",
            description = "Address buckets as http://host/bucket. Default: ${DEFAULT-VALUE}.")
    private boolean pathStyle;

    @Option(
            names = "--bucket",
            paramLabel = "<name>",
            description = "A bucket that exists. Needed with --endpoint; without it, a bucket on AWS.")
    private @Nullable String bucket;

    String bucket() {
        return bucket == null ? "bench" : bucket;
    }

    S3Target open(Scratch scratch, Resources resources) throws BenchException, IOException, InterruptedException {
        if (endpoint != null && bucket == null) {
            throw new BenchException("--endpoint " + endpoint + ": --bucket is needed too");
        }
        if (bucket == null) {
            S3Target server = OwnServers.start(scratch.folder("server"), resources);
            try (SdkUploads uploads = new SdkUploads(server, bucket())) {
                uploads.createBucket();
            }
            return server;
        }
        String name = endpoint == null ? "AWS" : endpoint.toString();
        return new S3Target(name, endpoint, region, endpoint != null && pathStyle, null, false);
    }
}
