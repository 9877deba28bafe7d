package io.penstock.objectstore.s3;

import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.http.TlsEngine;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How to reach one bucket. Impossible values are refused with an {@link IllegalArgumentException}, whose message names
 * the setting, its value and the allowed values.
 *
 * @param bucket the bucket's name
 * @param httpClient the HTTP client that carries the requests
 * @param retries how long calls are retried without progress before they fail
 */
public record S3Config(
        String bucket,
        Server server,
        Requester requester,
        HttpClient httpClient,
        Limits limits,
        Integrity integrity,
        RetryPolicy retries) {

    public S3Config {
        // Dots, underscores and capitals are no longer allowed in new names, but old buckets have them.
        require(bucket.matches("[A-Za-z0-9][A-Za-z0-9._-]+"), "bucket", bucket, "a bucket's name, without a path");
    }

    /** The same configuration with other credentials. */
    public S3Config withCredentials(Credentials credentials) {
        return new S3Config(
                bucket,
                server,
                new Requester(credentials, requester.profile(), requester.pays(), requester.userAgent()),
                httpClient,
                limits,
                integrity,
                retries);
    }

    /**
     * The server that has the bucket, and the way to it.
     *
     * @param endpoint the server of an S3-compatible store, {@code http://host:port}; null for AWS
     * @param region the bucket's region; null to ask the bucket
     * @param pathStyle {@code http://host/bucket/key} instead of {@code http://bucket.host/key}
     * @param proxy HTTP proxy to go through, {@code http://host:port}; null for the proxy of the environment for the
     *     endpoint's scheme, if any
     * @param caFile PEM certificates to trust in addition to the JDK's; null for none
     * @param tls the engine that encrypts connections
     */
    public record Server(
            @Nullable URI endpoint,
            @Nullable String region,
            boolean pathStyle,
            @Nullable URI proxy,
            @Nullable Path caFile,
            TlsEngine tls) {

        public Server {
            require(
                    endpoint == null || (isHttp(endpoint) && Set.of("", "/").contains(endpoint.getRawPath())),
                    "endpoint",
                    endpoint,
                    "http://host:port or https://host:port");
            require(region == null || !region.isBlank(), "region", region, "a region's name");
            require(
                    proxy == null || (isHttp(proxy) && proxy.getPort() > 0),
                    "proxy",
                    proxy,
                    "http://host:port or https://host:port");
        }

        /** Whether it is S3 itself, perhaps by an explicit endpoint. */
        boolean isAws() {
            return endpoint == null || endpoint.getHost().matches(".*\\.amazonaws\\.com(\\.cn)?");
        }

        /** The scheme of its address: {@code http} or {@code https}. */
        String scheme() {
            return endpoint == null ? "https" : endpoint.getScheme();
        }

        /** Whether any connection of this server's client is encrypted, including one to a proxy. */
        boolean isEncrypted() {
            return scheme().equals("https")
                    || (proxy != null && proxy.getScheme().equals("https"));
        }

        private static boolean isHttp(URI uri) {
            return Set.of("http", "https").contains(Objects.requireNonNullElse(uri.getScheme(), ""))
                    && uri.getHost() != null
                    && uri.getRawUserInfo() == null;
        }
    }

    /**
     * The sender of the requests.
     *
     * @param credentials the identity to use
     * @param profile of AWS's files, for the chain of credentials and everything else that the SDK reads there; null
     *     for the environment's
     * @param pays agree to pay for requests to another owner's bucket
     * @param userAgent the requests' User-Agent header
     */
    public record Requester(
            Credentials credentials, @Nullable String profile, boolean pays, String userAgent) {}

    /** The identity to use. */
    public sealed interface Credentials {
        /**
         * Those of {@link Requester#profile}; without one, the SDK's chain: environment, profile files, SSO, container
         * and instance roles.
         */
        record Chain() implements Credentials {}

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

    /** The HTTP client that carries the requests; docs/adr/0002-http-client.md has their costs. */
    public enum HttpClient {
        /**
         * Our own connections for ranges of objects and for writes, unless there is a proxy; the SDK's client for the
         * rest.
         */
        DIRECT,
        /** The SDK's client alone, on Apache's HttpClient 5. */
        SDK
    }

    /**
     * Limits of the HTTP client.
     *
     * @param connections maximum number of connections; 2 or more, because a body being sent never holds the last one
     * @param connectTimeout for a connection to one address of the server
     * @param readTimeout time without a byte after which a connection is considered broken and the request is retried
     */
    public record Limits(int connections, Duration connectTimeout, Duration readTimeout) {
        public static final Limits DEFAULT = new Limits(160, Duration.ofSeconds(5), Duration.ofSeconds(15));

        public Limits {
            require(connections >= 2, "connections", connections, "2 or more");
            require(connectTimeout.isPositive(), "connect timeout", connectTimeout, "more than 0");
            require(readTimeout.isPositive(), "read timeout", readTimeout, "more than 0");
        }
    }

    /**
     * How damage in transit is detected.
     *
     * @param checksums when responses are checked against additional checksums
     * @param uploadChecksums the checksum sent with bodies, for the store to check
     * @param signedPayloads sign bodies sent over plain HTTP, which costs a SHA-256 of every byte; bodies sent over
     *     HTTPS are not signed
     */
    public record Integrity(Checksums checksums, UploadChecksums uploadChecksums, boolean signedPayloads) {
        public static final Integrity DEFAULT = new Integrity(Checksums.SUPPORTED, UploadChecksums.CRC32C, false);
    }

    /** When additional checksums are sent: older compatible servers refuse the trailers that carry them. */
    public enum Checksums {
        SUPPORTED,
        REQUIRED
    }

    /** The checksum sent with a body: CRC32C is nearly free, MD5 is known to all servers. */
    public enum UploadChecksums {
        CRC32C,
        MD5,
        NONE
    }

    private static void require(boolean holds, String setting, @Nullable Object value, String allowed) {
        if (!holds) {
            throw new IllegalArgumentException(setting + " '" + value + "': must be " + allowed);
        }
    }
}
