package io.penstock.objectstore;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.profiles.Profile;
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.profiles.ProfileProperty;

/**
 * What a profile of the AWS programs' files says of the endpoint for S3. Immutable.
 *
 * @param ignoresConfigured whether endpoints of the environment and of profiles do not count, if the environment does not say
 * @param url as it is written, whether it counts or not; null if there is none
 */
public record ProfileEndpoint(
        boolean ignoresConfigured, @Nullable String url) {
    private static final ProfileEndpoint NONE = new ProfileEndpoint(false, null);

    /** No endpoint counts: the SDK's client, which is given none, tells what is wrong. */
    private static final ProfileEndpoint UNREADABLE = new ProfileEndpoint(true, null);

    private static final String SERVICES = "services";
    private static final String OF_S3 = "s3." + ProfileProperty.ENDPOINT_URL;

    /**
     * Reads it as the AWS SDK does.
     *
     * @param credentials such as ~/.aws/credentials; may be missing
     * @param configuration such as ~/.aws/config; may be missing
     * @param profile its name
     */
    public static ProfileEndpoint read(Path credentials, Path configuration, String profile) {
        if (!Files.isReadable(credentials) && !Files.isReadable(configuration)) {
            return NONE; // without loading the SDK's classes
        }
        try {
            ProfileFile.Aggregator files = ProfileFile.aggregator();
            add(files, credentials, ProfileFile.Type.CREDENTIALS);
            add(files, configuration, ProfileFile.Type.CONFIGURATION);
            ProfileFile all = files.build();
            return all.profile(profile).map(found -> of(found, all)).orElse(NONE);
        } catch (RuntimeException e) {
            return UNREADABLE;
        }
    }

    private static void add(ProfileFile.Aggregator files, Path file, ProfileFile.Type type) {
        if (Files.isReadable(file)) {
            files.addFile(ProfileFile.builder().content(file).type(type).build());
        }
    }

    private static ProfileEndpoint of(Profile profile, ProfileFile all) {
        return new ProfileEndpoint(
                profile.booleanProperty(ProfileProperty.IGNORE_CONFIGURED_ENDPOINT_URLS)
                        .orElse(false),
                profile.property(SERVICES)
                        .flatMap(name -> all.getSection(SERVICES, name))
                        .flatMap(services -> services.property(OF_S3))
                        .or(() -> profile.property(OF_S3))
                        .or(() -> profile.property(ProfileProperty.ENDPOINT_URL))
                        .orElse(null));
    }
}
