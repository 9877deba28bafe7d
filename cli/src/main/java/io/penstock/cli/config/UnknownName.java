package io.penstock.cli.config;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** What a user may mean by an option, a setting or a command that Penstock does not have. */
public final class UnknownName {
    private static final Pattern KEYS = Pattern.compile(".*(?:secret|access-key|passw|credential|token).*");

    /** Options of other clients of S3, and of FUSE, that have another name here. */
    private static final Map<String, String> ELSEWHERE = Map.ofEntries(
            Map.entry("verbose", "log-level=debug"),
            Map.entry("debug", "log-level=debug"),
            Map.entry("dbglevel", "log-level=debug"),
            Map.entry("umask", "file-mode=0644 and dir-mode=0755, which are modes and no masks"),
            Map.entry("endpoint-url", "endpoint"),
            Map.entry("url", "endpoint"),
            Map.entry("force-path-style", "path-style"),
            Map.entry("use-path-request-style", "path-style"),
            Map.entry("no-sign-request", "anonymous"),
            Map.entry("public-bucket", "anonymous"),
            Map.entry("use-cache", "cache"),
            Map.entry("max-cache-size", "cache-size"),
            Map.entry("vfs-cache-max-size", "cache-size"),
            Map.entry("dir-cache-time", "metadata-ttl"),
            Map.entry("attr-timeout", "metadata-ttl"),
            Map.entry("stat-cache-expire", "metadata-ttl"));

    private static final Map<String, String> WITHOUT_EQUIVALENT = Map.of(
            "nonempty", "a mount point must be an empty folder",
            "allow-non-empty", "a mount point must be an empty folder",
            "allow-delete", "writes are allowed unless read-only is set",
            "allow-overwrite", "writes are allowed unless read-only is set",
            "implicit-dirs", "folders without an object of their own are always shown",
            "daemon", "a mount serves in the background unless --foreground is given",
            "vfs-cache-mode", "all data that is read is cached");

    private UnknownName() {}

    /**
     * The end of a message about an unknown option or setting.
     *
     * @param prefix {@code --} on the command line, else empty
     * @param known names, the nearest of which is suggested
     */
    public static String hint(String name, String prefix, List<String> known) {
        String dashed = name.toLowerCase(Locale.ROOT)
                .replaceFirst("^-+", "")
                .replace('_', '-')
                .replace('.', '-');
        String equivalent = ELSEWHERE.get(dashed);
        String none = WITHOUT_EQUIVALENT.get(dashed);
        if (KEYS.matcher(dashed).matches()) {
            return ": keys are not settings; Penstock takes them from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,"
                    + " from ~/.aws/credentials (s3.profile) or from a role";
        } else if (equivalent != null) {
            return "; use " + prefix + equivalent;
        }
        return none != null ? ": " + none : EditDistance.suggestion(name, known);
    }

    /** The nearest known word, if it is near enough to be meant. */
    public static Optional<String> nearest(String word, List<String> known) {
        return EditDistance.nearest(word, known);
    }
}
