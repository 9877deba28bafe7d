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
    private static final Pattern KEYS = Pattern.compile(".*(?:secret|access-key|passw|credential|token|key-file).*");

    /**
     * What options of other S3 clients (mount-s3, rclone mount, s3fs, gcsfuse, JuiceFS, GeeseFS) and of FUSE are called
     * here. Each of the first table of docs/OPERATIONS.md is here, unless its name is the same.
     */
    private static final Map<String, String> ELSEWHERE = Map.ofEntries(
            Map.entry("verbose", "log-level=debug"),
            Map.entry("vv", "log-level=debug"),
            Map.entry("debug", "log-level=debug"),
            Map.entry("dbglevel", "log-level=debug"),
            Map.entry("log-severity", "log-level"),
            Map.entry("log-directory", "log-file"),
            Map.entry("umask", "file-mode=0644 and dir-mode=0755, which are modes, not masks"),
            Map.entry("mp-umask", "dir-mode=0755, which is a mode, not a mask"),
            Map.entry("file-perms", "file-mode"),
            Map.entry("dir-perms", "dir-mode"),
            Map.entry("endpoint-url", "endpoint"),
            Map.entry("custom-endpoint", "endpoint"),
            Map.entry("url", "endpoint"),
            Map.entry("force-path-style", "path-style"),
            Map.entry("use-path-request-style", "path-style"),
            Map.entry("no-sign-request", "anonymous"),
            Map.entry("public-bucket", "anonymous"),
            Map.entry("anonymous-access", "anonymous"),
            Map.entry("use-cache", "cache"),
            Map.entry("max-cache-size", "cache-size, with a unit"),
            Map.entry("vfs-cache-max-size", "cache-size"),
            Map.entry("file-cache-max-size-mb", "cache-size, with a unit"),
            Map.entry("ensure-diskfree", "cache-min-free, with a unit"),
            Map.entry("free-space-ratio", "cache-min-free, a size"),
            Map.entry("dir-cache-time", "metadata-ttl"),
            Map.entry("attr-timeout", "metadata-ttl"),
            Map.entry("attr-cache", "metadata-ttl"),
            Map.entry("entry-cache", "metadata-ttl"),
            Map.entry("dir-entry-cache", "metadata-ttl"),
            Map.entry("stat-cache-ttl", "metadata-ttl"),
            Map.entry("metadata-cache-ttl-secs", "metadata-ttl, with a unit"),
            Map.entry("stat-cache-expire", "metadata-ttl, with a unit"),
            Map.entry("metadata-cache-negative-ttl-secs", "metadata-negative-ttl, with a unit"),
            Map.entry("negative-metadata-ttl", "metadata-negative-ttl"),
            Map.entry("writeback", "write-close=staged"),
            Map.entry("vfs-read-ahead", "readahead-max-window"),
            Map.entry("max-readahead", "readahead-max-window, with a unit"),
            Map.entry("multipart-size", "upload-part-size, with a unit"),
            Map.entry("write-part-size", "upload-part-size, with a unit"),
            Map.entry("max-uploads", "upload-concurrency"),
            Map.entry("max-conns-per-host", "s3-connections"),
            Map.entry("max-downloads", "s3-connections"),
            Map.entry("max-threads", "fuse-threads"));

    private static final Map<String, String> WITHOUT_EQUIVALENT = Map.ofEntries(
            Map.entry("nonempty", "a mount point must be an empty folder"),
            Map.entry("allow-non-empty", "a mount point must be an empty folder"),
            Map.entry("allow-delete", "writes are allowed unless read-only is set"),
            Map.entry("allow-overwrite", "writes are allowed unless read-only is set"),
            Map.entry("implicit-dirs", "folders without a marker object are always shown"),
            Map.entry("daemon", "a mount serves in the background unless --foreground is given"),
            Map.entry("background", "a mount serves in the background unless --foreground is given"),
            Map.entry("vfs-cache-mode", "all data read is cached, and files are always written through the disk"),
            Map.entry("prefix", "write the prefix after the bucket: my-bucket/prefix"),
            Map.entry("only-dir", "write the folder after the bucket: my-bucket/folder"),
            Map.entry("use-https", "the endpoint says it: https://HOST or http://HOST"));

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
