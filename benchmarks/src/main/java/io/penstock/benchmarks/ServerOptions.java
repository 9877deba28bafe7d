package io.penstock.benchmarks;

import io.penstock.embeddeds3.OwnCertificate;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that select the server. */
final class ServerOptions {
    @Option(
            names = "--endpoint",
            paramLabel = "<url>",
            description = "A running S3-compatible server, with credentials as the AWS SDK finds them."
                    + " Default: MinIO is started on a scratch folder where there is one (PENSTOCK_MINIO, PATH,"
                    + " ~/.cache/penstock/bin), else S3Proxy.")
    private @Nullable URI endpoint;

    @Option(names = "--region", paramLabel = "<region>", description = "Default: the bucket's own region.")
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
            description = "An existing bucket. Required with --endpoint; without it, a bucket on AWS.")
    private @Nullable String bucket;

    @Option(names = "--tls", description = "The server that is started speaks HTTPS, with its own certificate.")
    private boolean tls;

    /** Whether the benchmark starts its own HTTPS server: its keys can be given to other programs. */
    boolean isOwnWithTls() {
        return tls;
    }

    String bucket() {
        return bucket == null ? "bench" : bucket;
    }

    private static @Nullable Path caFile() {
        String bundle = System.getenv("AWS_CA_BUNDLE");
        return bundle == null ? null : Path.of(bundle);
    }

    S3Target open(BenchRun run) throws BenchException, IOException, InterruptedException {
        if (endpoint != null && bucket == null) {
            throw new BenchException("--endpoint " + endpoint + ": --bucket is needed too");
        }
        if (tls && bucket != null) {
            throw new BenchException("--tls is only for the benchmark's own server; write https:// as the scheme of"
                    + " --endpoint, and its authority's file (PEM) as AWS_CA_BUNDLE");
        }
        if (bucket == null) {
            OwnCertificate certificate = tls ? OwnCertificate.make(run.scratch().folder("certificate")) : null;
            S3Target server = OwnServers.start(run.scratch().folder("server"), certificate, run.resources());
            try (SdkUploads uploads = new SdkUploads(server, bucket())) {
                uploads.createBucket();
            }
            return server;
        }
        String name = endpoint == null ? "AWS" : endpoint.toString();
        return new S3Target(name, endpoint, region, endpoint != null && pathStyle, null, caFile(), false);
    }
}
