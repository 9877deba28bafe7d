package io.penstock.cli.config;

import io.penstock.objectstore.ProfileEndpoint;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The endpoint for S3 that the user has set for all programs that use AWS's SDKs, in the environment or in the profile: that
 * which the SDK's client would take.
 */
final class AwsEndpoint {
    /** In words: the places, the first wins. */
    static final String PLACES = "$AWS_ENDPOINT_URL_S3, $AWS_ENDPOINT_URL, else endpoint_url of the profile in"
            + " ~/.aws/config (none of them if ignore_configured_endpoint_urls is true)";

    private AwsEndpoint() {}

    /** @param named the profile of s3.profile; null if it is not set */
    static Optional<Setting.Found> find(Host host, @Nullable String named) {
        String ignored = System.getProperty(
                "aws.ignoreConfiguredEndpointUrls", host.environment().get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"));
        if (ignored != null && !ignored.strip().equalsIgnoreCase("false")) {
            return Optional.empty(); // or neither true nor false: the SDK's client refuses that
        }
        String name = named == null ? host.variable("AWS_PROFILE", "default") : named;
        ProfileEndpoint profile = profile(host, name);
        if (ignored == null && profile.ignoresConfigured()) {
            return Optional.empty();
        }
        return Setting.Found.in(host, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
                .or(() -> Optional.ofNullable(profile.url())
                        .map(url -> new Setting.Found(url, new Origin.Profile(name))));
    }

    private static ProfileEndpoint profile(Host host, String name) {
        Path credentials = host.path(host.variable("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials"));
        Path configuration = host.path(host.variable("AWS_CONFIG_FILE", "~/.aws/config"));
        return ProfileEndpoint.read(credentials, configuration, name);
    }
}
