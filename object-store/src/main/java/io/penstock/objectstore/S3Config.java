package io.penstock.objectstore;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How to reach one bucket.
 *
 * @param bucket the bucket's name
 * @param endpoint the server of an S3-compatible store, {@code http://host:port}; null for AWS
 * @param region the bucket's region; null to ask the bucket
 * @param pathStyle {@code http://host/bucket/key} instead of {@code http://bucket.host/key}
 * @param credentials whom to be
 * @param requesterPays agree to pay for requests to another's bucket
 * @param checksums when bodies carry and answers are checked against additional checksums
 * @param httpClient which HTTP client carries the requests
 * @param connections most connections at once; 1 or more
 * @param connectTimeout for a connection to be made
 * @param readTimeout without a byte arriving, after which a connection counts as broken and the request is retried
 * @param retryDeadline how long a call is retried, with jittered back-off, before it fails
 * @param proxy HTTP proxy to go through; null for none
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
        HttpClient httpClient,
        int connections,
        Duration connectTimeout,
        Duration readTimeout,
        Duration retryDeadline,
        @Nullable URI proxy,
        @Nullable Path caFile,
        String userAgent) {

    /** Whom to be. */
    public sealed interface Credentials {
        /** The SDK's chain: environment, profile files, SSO, container and instance roles; of this profile if named. */
        record Chain(@Nullable String profile) implements Credentials {}

        /** Unsigned requests, for public buckets. */
        record Anonymous() implements Credentials {}

        /** A given key pair. */
        record Static(String accessKeyId, String secretAccessKey) implements Credentials {
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

    /** The HTTP clients to choose from; docs/adr tells their costs. */
    public enum HttpClient {
        APACHE,
        URL_CONNECTION,
        CRT
    }
}
