package io.penstock.objectstore.s3;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.profiles.Profile;
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.profiles.ProfileProperty;

/**
 * The endpoint for S3 in a profile of the AWS programs' files. Immutable.
 *
 * @param ignoresConfigured whether to ignore endpoints of the environment and of profiles, unless the environment says:
 *     the text in the file, possibly neither true nor false; false if missing
 * @param url the text in the file, whether ignored or not; null if there is none
 */
public record ProfileEndpoint(
        String ignoresConfigured, @Nullable String url) {
    private static final ProfileEndpoint NONE = new ProfileEndpoint("false", null);
    private static final String SERVICES = "services";
    private static final String OF_S3 = "s3." + ProfileProperty.ENDPOINT_URL;

    /**
     * Reads it as the AWS SDK does.
     *
     * @param credentials such as ~/.aws/credentials; may be missing
     * @param configuration such as ~/.aws/config; may be missing
     * @param profile its name
     * @throws IOException if one of them cannot be read or is malformed; the message names it and the reason
     */
    public static ProfileEndpoint read(Path credentials, Path configuration, String profile) throws IOException {
        if (!isThere(credentials) && !isThere(configuration)) {
            return NONE; // without loading the SDK's classes
        }
        ProfileFile.Aggregator files = ProfileFile.aggregator();
        add(files, credentials, ProfileFile.Type.CREDENTIALS);
        add(files, configuration, ProfileFile.Type.CONFIGURATION);
        ProfileFile all = files.build();
        return all.profile(profile).map(found -> of(found, all)).orElse(NONE);
    }

    /** The SDK treats everything else as missing. */
    private static boolean isThere(Path file) {
        return Files.isRegularFile(file) && Files.isReadable(file);
    }

    private static void add(ProfileFile.Aggregator files, Path file, ProfileFile.Type type) throws IOException {
        if (isThere(file)) {
            try {
                files.addFile(ProfileFile.builder().content(file).type(type).build());
            } catch (RuntimeException e) {
                throw new IOException(file + " cannot be read: " + e.getMessage(), e);
            }
        }
    }

    private static ProfileEndpoint of(Profile profile, ProfileFile all) {
        return new ProfileEndpoint(
                profile.property(ProfileProperty.IGNORE_CONFIGURED_ENDPOINT_URLS)
                        .orElse("false"),
                profile.property(SERVICES)
                        .flatMap(name -> all.getSection(SERVICES, name))
                        .flatMap(services -> services.property(OF_S3))
                        .or(() -> profile.property(OF_S3))
                        .or(() -> profile.property(ProfileProperty.ENDPOINT_URL))
                        .orElse(null));
    }
}
