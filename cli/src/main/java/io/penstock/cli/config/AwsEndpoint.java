package io.penstock.cli.config;

import io.penstock.objectstore.ProfileEndpoint;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The endpoint for S3 that the user has set for all programs that use AWS's SDKs, in the environment or in the profile. */
final class AwsEndpoint {
    /** In words: the places, the first wins. */
    static final String PLACES =
            "$AWS_ENDPOINT_URL_S3, $AWS_ENDPOINT_URL, else endpoint_url of the profile in ~/.aws/config";

    private AwsEndpoint() {}

    /** @param named the profile of s3.profile; null if it is not set */
    static Optional<Setting.Found> find(Host host, @Nullable String named) {
        return Boolean.parseBoolean(host.variable("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "false"))
                ? Optional.empty()
                : Setting.Found.in(host, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
                        .or(() -> ofProfile(host, named == null ? host.variable("AWS_PROFILE", "default") : named));
    }

    private static Optional<Setting.Found> ofProfile(Host host, String profile) {
        Path credentials = host.path(host.variable("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials"));
        Path configuration = host.path(host.variable("AWS_CONFIG_FILE", "~/.aws/config"));
        return ProfileEndpoint.find(credentials, configuration, profile)
                .map(url -> new Setting.Found(url, new Origin.Profile(profile)));
    }
}
