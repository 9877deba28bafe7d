package io.penstock.objectstore.s3;

import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.http.TlsEngine;
import io.penstock.objectstore.s3.S3Config.Credentials;
import io.penstock.objectstore.s3.S3Config.HttpClient;
import io.penstock.objectstore.s3.S3Config.Integrity;
import io.penstock.objectstore.s3.S3Config.Limits;
import io.penstock.objectstore.s3.S3Config.Requester;
import io.penstock.objectstore.s3.S3Config.Server;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How tests reach a bucket of their own server. */
final class TestConfigs {
    static final Requester REQUESTER = requester(new Credentials.Static("id", "secret"));

    private TestConfigs() {}

    static Server at(URI endpoint) {
        return at(endpoint, null);
    }

    /** @param caFile null if the server has no certificate */
    static Server at(URI endpoint, @Nullable Path caFile) {
        return at(endpoint, caFile, TlsEngine.AUTO);
    }

    static Server at(URI endpoint, @Nullable Path caFile, TlsEngine tls) {
        return new Server(endpoint, null, true, null, caFile, tls);
    }

    static Requester requester(Credentials credentials) {
        return new Requester(credentials, null, false, "penstock-test");
    }

    /** With a profile of AWS's files. */
    static Requester requester(String profile) {
        return new Requester(new Credentials.Chain(), profile, false, "penstock-test");
    }

    static Limits readTimeout(Duration readTimeout) {
        return new Limits(Limits.DEFAULT.connections(), Limits.DEFAULT.connectTimeout(), readTimeout);
    }

    static S3Config config(String bucket, Server server) {
        return config(bucket, server, Limits.DEFAULT, RetryPolicy.DEFAULT);
    }

    static S3Config config(String bucket, Server server, Requester requester) {
        return config(bucket, server, requester, Limits.DEFAULT, RetryPolicy.DEFAULT);
    }

    static S3Config config(String bucket, Server server, Limits limits, RetryPolicy retries) {
        return config(bucket, server, REQUESTER, limits, retries);
    }

    private static S3Config config(
            String bucket, Server server, Requester requester, Limits limits, RetryPolicy retries) {
        return new S3Config(bucket, server, requester, HttpClient.DIRECT, limits, Integrity.DEFAULT, retries);
    }
}
