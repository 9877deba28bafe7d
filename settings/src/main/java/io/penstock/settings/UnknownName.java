package io.penstock.settings;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Suggests what a user may have meant by an unknown option, setting or command. */
public final class UnknownName {
    private static final Pattern KEYS = Pattern.compile(".*(?:secret|access-key|passw|credential|token).*");

    /** Options of other S3 clients and of FUSE that have a different name here. */
    private static final Map<String, String> ELSEWHERE = Map.ofEntries(
            Map.entry("verbose", "log-level=debug"),
            Map.entry("debug", "log-level=debug"),
            Map.entry("dbglevel", "log-level=debug"),
            Map.entry("umask", "file-mode=0644 and dir-mode=0755, which are modes, not masks"),
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
            "implicit-dirs", "folders without a marker object are always shown",
            "daemon", "a mount serves in the background unless --foreground is given",
            "vfs-cache-mode", "all data read is cached");

    /** Names of commands in other programs. */
    private static final Map<String, String> COMMANDS = Map.of(
            "help", "--help",
            "version", "--version",
            "ls", "mounts",
            "list", "mounts",
            "status", "mounts",
            "logs", "mounts",
            "info", "stats");

    private UnknownName() {}

    /**
     * The end of a message about an unknown option or setting.
     *
     * @param prefix {@code --} on the command line, else empty
     * @param known names; the nearest one is suggested
     */
    public static String hint(String name, String prefix, List<String> known) {
        String dashed = name.toLowerCase(Locale.ROOT)
                .replaceFirst("^-+", "")
                .replace('_', '-')
                .replace('.', '-');
        String equivalent = ELSEWHERE.get(dashed);
        String none = WITHOUT_EQUIVALENT.get(dashed);
        if (KEYS.matcher(dashed).matches()) {
            return ": credentials are not settings; Penstock reads them from AWS_ACCESS_KEY_ID and"
                    + " AWS_SECRET_ACCESS_KEY, from ~/.aws/credentials (s3.profile) or from a role";
        } else if (equivalent != null) {
            return "; use " + prefix + equivalent;
        }
        return none != null ? ": " + none : suggestion(name, known);
    }

    /** The command that does what a command with this name does in other programs, else the nearest one. */
    public static Optional<String> command(String word, List<String> known) {
        return Optional.ofNullable(COMMANDS.get(word)).or(() -> nearest(word, known));
    }

    /** The end of a message about an unknown word. */
    static String suggestion(String word, List<String> known) {
        return nearest(word, known)
                .map(candidate -> "; did you mean " + candidate + "?")
                .orElse("");
    }

    /** The nearest word, if it is near enough: up to a third of its letters, or two, may differ. */
    static Optional<String> nearest(String word, List<String> known) {
        return known.stream()
                .filter(candidate -> distance(word, candidate) <= Math.max(2, candidate.length() / 3))
                .min(Comparator.comparingInt(candidate -> distance(word, candidate)));
    }

    /** How many letters must change to turn one word into the other: the Levenshtein distance. */
    static int distance(String from, String to) {
        int[] row = IntStream.rangeClosed(0, to.length()).toArray();
        for (int i = 1; i <= from.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int substituted = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(substituted, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[to.length()];
    }
}
