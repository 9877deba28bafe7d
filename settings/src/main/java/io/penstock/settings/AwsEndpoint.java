package io.penstock.settings;

import io.penstock.objectstore.s3.ProfileEndpoint;
import io.penstock.settings.Setting.Found;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The S3 endpoint that the user has set for all programs that use an AWS SDK, in the environment or in the profile. The
 * system properties of the SDK for Java (aws.endpointUrl, aws.profile and others) are not read: a server named only
 * there is refused when the bucket is opened.
 */
final class AwsEndpoint {
    /** The places in words, in order of precedence. */
    static final String PLACES = "$AWS_ENDPOINT_URL_S3, $AWS_ENDPOINT_URL, or endpoint_url of the profile in"
            + " ~/.aws/config, in this order (ignored if $AWS_IGNORE_CONFIGURED_ENDPOINT_URLS or, if that is unset, the"
            + " profile's ignore_configured_endpoint_urls is true)";

    private AwsEndpoint() {}

    /** @param named the value of s3.profile; null if it is not set */
    static Optional<? extends Found> find(Host host, @Nullable String named) {
        Origin.Profile origin = new Origin.Profile(named == null ? host.variable("AWS_PROFILE", "default") : named);
        ProfileEndpoint profile;
        try {
            profile = profile(host, origin.name());
        } catch (IOException e) {
            return Optional.of(new Found.Problem(String.valueOf(e.getMessage()), origin));
        }
        Found.Text ignores = Found.Text.in(host, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")
                .orElse(new Found.Text(profile.ignoresConfigured(), origin));
        return switch (ignores.text().strip().toLowerCase(Locale.ROOT)) {
            case "true" -> Optional.empty();
            case "false" ->
                Found.Text.in(host, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
                        .or(() -> Optional.ofNullable(profile.url()).map(url -> new Found.Text(url, origin)));
            default ->
                Optional.of(new Found.Problem(
                        "invalid value '" + ignores.text() + "'; expected true or false", ignores.origin()));
        };
    }

    private static ProfileEndpoint profile(Host host, String name) throws IOException {
        Path credentials = host.path(host.variable("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials"));
        Path configuration = host.path(host.variable("AWS_CONFIG_FILE", "~/.aws/config"));
        return ProfileEndpoint.read(credentials, configuration, name);
    }
}
