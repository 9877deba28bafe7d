package io.penstock.objectstore;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How to reach one bucket. Made by {@link #builder}, whose defaults fit a bucket on AWS.
 *
 * @param bucket the bucket's name
 * @param endpoint the server of an S3-compatible store, {@code http://host:port}; null for AWS
 * @param region the bucket's region; null to ask the bucket
 * @param pathStyle {@code http://host/bucket/key} instead of {@code http://bucket.host/key}
 * @param credentials whom to be
 * @param requesterPays agree to pay for requests to another's bucket
 * @param checksums when answers are checked against additional checksums
 * @param uploadChecksums what is sent with bodies, for the store to check them
 * @param signedPayloads sign bodies that go over plain HTTP, which costs a SHA-256 of every byte; over HTTPS none is
 * @param httpClient which HTTP client carries the requests
 * @param connections most connections at once; 2 or more, because bodies that are sent never hold the last one
 * @param connectTimeout for a connection to one address of the server
 * @param readTimeout without a byte arriving, after which a connection counts as broken and the request is retried
 * @param retries how long calls that make no progress are repeated before they fail
 * @param proxy HTTP proxy to go through, {@code http://host:port}; null for the one that the environment names, if any
 * @param caFile PEM certificates to trust beside the JDK's own; null for none
 * @param userAgent what the requests say of their sender
 */
public record S3Config(
        String bucket,
        @Nullable URI endpoint,
        @Nullable String region,
        boolean pathStyle,
        Credentials credentials,
        boolean requesterPays,
        Checksums checksums,
        UploadChecksums uploadChecksums,
        boolean signedPayloads,
        HttpClient httpClient,
        int connections,
        Duration connectTimeout,
        Duration readTimeout,
        RetryPolicy retries,
        @Nullable URI proxy,
        @Nullable Path caFile,
        String userAgent) {

    /** @throws IllegalArgumentException whose message names the setting, what it is and what is allowed */
    public S3Config {
        // Dots, underscores and capitals are no longer allowed in new names, but old buckets have them.
        require(bucket.matches("[A-Za-z0-9][A-Za-z0-9._-]+"), "bucket", bucket, "a bucket's name, without a path");
        require(
                endpoint == null || (isHttp(endpoint) && Set.of("", "/").contains(endpoint.getRawPath())),
                "endpoint",
                endpoint,
                "http://host:port or https://host:port");
        require(
                proxy == null || (isHttp(proxy) && proxy.getPort() > 0),
                "proxy",
                proxy,
                "http://host:port or https://host:port");
        require(region == null || !region.isBlank(), "region", region, "a region's name");
        require(connections >= 2, "connections", connections, "2 or more");
        require(connectTimeout.isPositive(), "connect timeout", connectTimeout, "more than 0");
        require(readTimeout.isPositive(), "read timeout", readTimeout, "more than 0");
    }

    /** The defaults for a bucket on AWS. */
    public static Builder builder(String bucket) {
        return new Builder(bucket);
    }

    /** Whether the bucket is on S3 itself, perhaps by an endpoint of its own. */
    boolean isAws() {
        return endpoint == null || endpoint.getHost().matches(".*\\.amazonaws\\.com(\\.cn)?");
    }

    private static boolean isHttp(URI uri) {
        return Set.of("http", "https").contains(Objects.requireNonNullElse(uri.getScheme(), ""))
                && uri.getHost() != null
                && uri.getRawUserInfo() == null;
    }

    private static void require(boolean holds, String setting, @Nullable Object value, String allowed) {
        if (!holds) {
            throw new IllegalArgumentException(setting + " '" + value + "': must be " + allowed);
        }
    }

    /** Whom to be. */
    public sealed interface Credentials {
        /** The SDK's chain: environment, profile files, SSO, container and instance roles; or this one profile. */
        record Chain(@Nullable String profile) implements Credentials {}

        /** Unsigned requests, for public buckets. */
        record Anonymous() implements Credentials {}

        /** A given key pair. */
        record Static(String accessKeyId, String secretAccessKey) implements Credentials {
            /** Without the secret. */
            @Override
            public String toString() {
                return "Static[" + accessKeyId + "]";
            }
        }
    }

    /** When additional checksums travel: older compatible servers refuse the trailers they come in. */
    public enum Checksums {
        SUPPORTED,
        REQUIRED
    }

    /** What is sent with a body: CRC32C is nearly free, MD5 is what servers knew from the first. */
    public enum UploadChecksums {
        CRC32C,
        MD5,
        NONE
    }

    /** What carries the requests; docs/adr/0002-http-client.md tells what each costs. */
    public enum HttpClient {
        /** Connections of our own for parts of objects and for writes, unless there is a proxy; else the SDK's client. */
        DIRECT,
        /** The SDK's client alone, on Apache's HttpClient 5. */
        SDK
    }

    /** Collects the settings that are not to be the default. Not thread-safe. */
    public static final class Builder {
        private final String bucket;
        private @Nullable URI endpoint;
        private @Nullable String region;
        private boolean pathStyle;
        private Credentials credentials = new Credentials.Chain(null);
        private boolean requesterPays;
        private Checksums checksums = Checksums.SUPPORTED;
        private UploadChecksums uploadChecksums = UploadChecksums.CRC32C;
        private boolean signedPayloads;
        private HttpClient httpClient = HttpClient.DIRECT;
        private int connections = 128;
        private Duration connectTimeout = Duration.ofSeconds(5);
        private Duration readTimeout = Duration.ofSeconds(15);
        private RetryPolicy retries = RetryPolicy.DEFAULT;
        private @Nullable URI proxy;
        private @Nullable Path caFile;
        private String userAgent = "penstock";

        private Builder(String bucket) {
            this.bucket = bucket;
        }

        /** An S3-compatible server; null for AWS. */
        public Builder endpoint(@Nullable URI endpoint) {
            this.endpoint = endpoint;
            return this;
        }

        /** Default: ask the bucket. */
        public Builder region(@Nullable String region) {
            this.region = region;
            return this;
        }

        /** Default: off. */
        public Builder pathStyle(boolean pathStyle) {
            this.pathStyle = pathStyle;
            return this;
        }

        /** Default: the SDK's chain. */
        public Builder credentials(Credentials credentials) {
            this.credentials = credentials;
            return this;
        }

        /** Default: off. */
        public Builder requesterPays(boolean requesterPays) {
            this.requesterPays = requesterPays;
            return this;
        }

        /** Default: where supported. */
        public Builder checksums(Checksums checksums) {
            this.checksums = checksums;
            return this;
        }

        /** Default: CRC32C. */
        public Builder uploadChecksums(UploadChecksums uploadChecksums) {
            this.uploadChecksums = uploadChecksums;
            return this;
        }

        /** Default: off. */
        public Builder signedPayloads(boolean signedPayloads) {
            this.signedPayloads = signedPayloads;
            return this;
        }

        /** Default: {@link HttpClient#DIRECT}. */
        public Builder httpClient(HttpClient httpClient) {
            this.httpClient = httpClient;
            return this;
        }

        /** Default: 128. */
        public Builder connections(int connections) {
            this.connections = connections;
            return this;
        }

        /** Default: 5 seconds. */
        public Builder connectTimeout(Duration connectTimeout) {
            this.connectTimeout = connectTimeout;
            return this;
        }

        /** Default: 15 seconds. */
        public Builder readTimeout(Duration readTimeout) {
            this.readTimeout = readTimeout;
            return this;
        }

        /** Default: {@link RetryPolicy#DEFAULT}. */
        public Builder retries(RetryPolicy retries) {
            this.retries = retries;
            return this;
        }

        /** Default: what the environment names. */
        public Builder proxy(@Nullable URI proxy) {
            this.proxy = proxy;
            return this;
        }

        /** Default: the JDK's certificates alone. */
        public Builder caFile(@Nullable Path caFile) {
            this.caFile = caFile;
            return this;
        }

        /** Default: {@code penstock}. */
        public Builder userAgent(String userAgent) {
            this.userAgent = userAgent;
            return this;
        }

        /** @throws IllegalArgumentException as the record's constructor does */
        public S3Config build() {
            return new S3Config(
                    bucket,
                    endpoint,
                    region,
                    pathStyle,
                    credentials,
                    requesterPays,
                    checksums,
                    uploadChecksums,
                    signedPayloads,
                    httpClient,
                    connections,
                    connectTimeout,
                    readTimeout,
                    retries,
                    proxy,
                    caFile,
                    userAgent);
        }
    }
}
