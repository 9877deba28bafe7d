package io.penstock.benchmarks;

import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.http.TlsEngine;
import io.penstock.objectstore.s3.S3Config;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The server with the objects and how to reach it, the same for the mount and for its ceilings.
 *
 * @param name its name in the report
 * @param endpoint null for AWS
 * @param region null to ask the bucket
 * @param pathStyle {@code http://host/bucket/key}
 * @param keys null for the AWS SDK's credentials
 * @param caFile certificates (PEM) to trust; null for the default ones
 * @param own whether it runs for this benchmark alone, on this machine
 */
record S3Target(
        String name,
        @Nullable URI endpoint,
        @Nullable String region,
        boolean pathStyle,
        @Nullable Keys keys,
        @Nullable Path caFile,
        boolean own) {

    record Keys(String accessKeyId, String secretAccessKey) {
        @Override
        public String toString() {
            return "Keys[" + accessKeyId + "]";
        }
    }

    S3Config config(String bucket, S3Config.HttpClient httpClient) throws BenchException {
        try {
            return new S3Config(
                    bucket,
                    new S3Config.Server(endpoint, region, pathStyle, null, caFile, TlsEngine.AUTO),
                    new S3Config.Requester(
                            keys == null
                                    ? new S3Config.Credentials.Chain()
                                    : new S3Config.Credentials.Static(keys.accessKeyId(), keys.secretAccessKey()),
                            null,
                            false,
                            "penstock-bench"),
                    httpClient,
                    S3Config.Limits.DEFAULT,
                    S3Config.Integrity.DEFAULT,
                    RetryPolicy.DEFAULT);
        } catch (IllegalArgumentException e) {
            throw new BenchException(e.getMessage());
        }
    }

    /** The same settings as options of {@code penstock mount}. */
    List<String> mountOptions() {
        List<String> options = new ArrayList<>();
        if (endpoint != null) {
            options.add("--endpoint=" + endpoint);
        }
        if (region != null) {
            options.add("--region=" + region);
        }
        options.add("--path-style=" + pathStyle);
        if (caFile != null) {
            options.add("--s3-ca-file=" + caFile);
        }
        return options;
    }

    /** Sets the environment variables from which a program's AWS SDK takes the keys. */
    void addKeysTo(Map<String, String> environment) {
        if (keys != null) {
            environment.keySet().removeAll(List.of("AWS_SESSION_TOKEN", "AWS_PROFILE"));
            environment.put("AWS_ACCESS_KEY_ID", keys.accessKeyId());
            environment.put("AWS_SECRET_ACCESS_KEY", keys.secretAccessKey());
        }
    }
}
