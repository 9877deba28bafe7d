package io.penstock.objectstore;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import software.amazon.awssdk.profiles.Profile;
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.profiles.ProfileProperty;

/** The endpoint that a profile of the AWS programs' files has for S3. */
public final class ProfileEndpoint {
    private static final String SERVICES = "services";
    private static final String OF_S3 = "s3." + ProfileProperty.ENDPOINT_URL;

    private ProfileEndpoint() {}

    /**
     * Finds it as the AWS SDK does.
     *
     * @param credentials such as ~/.aws/credentials; may be missing
     * @param configuration such as ~/.aws/config; may be missing
     * @param profile its name
     * @return as it is written; empty if there is none, and if the files are none of profiles: the search for credentials and
     *     the SDK's client fail then
     */
    public static Optional<String> find(Path credentials, Path configuration, String profile) {
        if (!Files.isReadable(credentials) && !Files.isReadable(configuration)) {
            return Optional.empty(); // without loading the SDK's classes
        }
        try {
            ProfileFile.Aggregator files = ProfileFile.aggregator();
            add(files, credentials, ProfileFile.Type.CREDENTIALS);
            add(files, configuration, ProfileFile.Type.CONFIGURATION);
            ProfileFile all = files.build();
            return all.profile(profile).flatMap(found -> of(found, all));
        } catch (RuntimeException e) {
            return Optional.empty();
        }
    }

    private static void add(ProfileFile.Aggregator files, Path file, ProfileFile.Type type) {
        if (Files.isReadable(file)) {
            files.addFile(ProfileFile.builder().content(file).type(type).build());
        }
    }

    private static Optional<String> of(Profile profile, ProfileFile all) {
        if (profile.booleanProperty(ProfileProperty.IGNORE_CONFIGURED_ENDPOINT_URLS)
                .orElse(false)) {
            return Optional.empty();
        }
        return profile.property(SERVICES)
                .flatMap(name -> all.getSection(SERVICES, name))
                .flatMap(services -> services.property(OF_S3))
                .or(() -> profile.property(OF_S3))
                .or(() -> profile.property(ProfileProperty.ENDPOINT_URL));
    }
}
