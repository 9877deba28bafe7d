package io.penstock.settings;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A configuration file: settings for all buckets and for individual ones.
 *
 * <pre>
 * defaults:
 *   cache: {size: 64GiB}
 * buckets:
 *   training-data:
 *     s3: {endpoint: http://10.0.0.5:9000}
 * </pre>
 *
 * @param path the file; null if there is none
 * @param defaults settings for all buckets
 * @param buckets settings for individual buckets, by name
 * @param problems messages for the user, each with file and line
 */
public record ConfigurationFile(
        @Nullable Path path,
        List<Assignment<?>> defaults,
        Map<String, List<Assignment<?>>> buckets,
        List<String> problems) {
    /** No file. */
    public static final ConfigurationFile NONE = new ConfigurationFile(null, List.of(), Map.of(), List.of());

    /**
     * The named file, or else the user's, or else the machine's, or else {@link #NONE}.
     *
     * @param named null if none was named
     */
    public static ConfigurationFile find(@Nullable Path named, Host host) {
        Optional<Path> file = named != null
                ? Optional.of(named)
                : places(host).stream().filter(Files::exists).findFirst();
        // Jackson is loaded only if there is a file.
        return file.map(YamlReader::read).orElse(NONE);
    }

    /** Where a file may be, in order of precedence. */
    public static List<Path> places(Host host) {
        return List.of(
                host.xdg("XDG_CONFIG_HOME", ".config").resolve("penstock.yaml"),
                Path.of("/etc/penstock/penstock.yaml"));
    }

    /** The settings in the bucket's section. */
    List<Assignment<?>> bucket(String bucket) {
        return buckets.getOrDefault(bucket, List.of());
    }
}
