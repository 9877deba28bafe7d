package io.penstock.settings;

import static io.penstock.settings.ValueType.choice;
import static io.penstock.settings.ValueType.duration;
import static io.penstock.settings.ValueType.flag;
import static io.penstock.settings.ValueType.integer;
import static io.penstock.settings.ValueType.mebibytes;
import static io.penstock.settings.ValueType.mode;
import static io.penstock.settings.ValueType.path;
import static io.penstock.settings.ValueType.paths;
import static io.penstock.settings.ValueType.proxy;
import static io.penstock.settings.ValueType.server;
import static io.penstock.settings.ValueType.size;
import static io.penstock.settings.ValueType.word;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * All settings. Options, files, {@code -o}, the help and docs/CONFIGURATION.md are all generated from this list, so
 * they cannot differ.
 */
public final class Settings {
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;

    private static final int LEAST_CONNECTIONS = 160;

    /** Connections for requests without content: names, listings, commits. */
    private static final int OTHER_REQUESTS = 32;

    public static final Setting<URI> ENDPOINT = Setting.of(
                    "s3.endpoint", server(), "The S3-compatible server to use instead of AWS.")
            .alias("endpoint")
            .withDefault("AWS", context -> null)
            .from(
                    AwsEndpoint.PLACES,
                    context -> AwsEndpoint.find(
                            context.host(), context.find(Settings.PROFILE).orElse(null)));

    public static final Setting<String> REGION = Setting.of(
                    "s3.region",
                    word(
                            "<region>",
                            "a region's name such as eu-central-1",
                            Pattern.compile("[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?")),
                    "The bucket's region.")
            .alias("region")
            .withDefault("the bucket's own region", context -> null);

    public static final Setting<Boolean> PATH_STYLE = Setting.of(
                    "s3.path-style",
                    flag(),
                    "Address buckets as http://host/bucket instead of http://bucket.host; most S3-compatible servers"
                            + " need this.")
            .alias("path-style")
            .withDefault(
                    "true if an endpoint is set",
                    context -> context.find(ENDPOINT).isPresent());

    public static final Setting<String> PROFILE = Setting.of(
                    "s3.profile",
                    word("<name>", "the name of a profile in ~/.aws/config", Pattern.compile("\\S.*")),
                    "The profile in ~/.aws/config and ~/.aws/credentials with the credentials and, optionally, the"
                            + " endpoint.")
            .alias("profile")
            .withDefault("the AWS SDK's credential chain", context -> null);

    public static final Setting<Boolean> ANONYMOUS = Setting.of(
                    "s3.anonymous", flag(), "Send requests without credentials, for public buckets.")
            .alias("anonymous")
            .withDefault("false");

    public static final Setting<Boolean> REQUESTER_PAYS = Setting.of(
                    "s3.requester-pays", flag(), "Agree to pay for requests to another owner's bucket.")
            .alias("requester-pays")
            .withDefault("false");

    public static final Setting<String> CHECKSUMS = Setting.of(
                    "s3.checksums",
                    choice("supported", "required"),
                    "When requests and responses carry checksums in addition to the ETag. Older S3-compatible servers"
                            + " reject them: use required there.")
            .withDefault("supported");

    public static final Setting<String> HTTP_CLIENT = Setting.of(
                    "s3.http-client",
                    choice("direct", "sdk"),
                    "The HTTP client. direct: Penstock's own connections for GETs of ranges, HEADs, and PUTs of"
                        + " objects and parts, unless there is a proxy or the bucket's name ends in --x-s3 (S3"
                        + " Express), --op-s3 or --ol-s3, and the AWS SDK for all other requests. sdk: the AWS SDK for"
                        + " all requests, which costs more CPU time.")
            .withDefault("direct");

    public static final Setting<Integer> CONNECTIONS = Setting.of(
                    "s3.connections",
                    integer(2, 16_384),
                    "The maximum number of connections of each HTTP client; s3.http-client=direct uses two clients."
                            + " Writes leave one connection of each to reads.")
            .withDefault(
                    LEAST_CONNECTIONS + ", or more if readahead.concurrency and upload.concurrency need them",
                    context -> Math.max(
                            LEAST_CONNECTIONS,
                            context.get(Settings.READ_CONCURRENCY)
                                    + context.get(WriteSettings.UPLOAD_CONCURRENCY)
                                    + OTHER_REQUESTS));

    public static final Setting<Duration> CONNECT_TIMEOUT = Setting.of(
                    "s3.connect-timeout",
                    duration(Duration.ofMillis(1), Duration.ofMinutes(10)),
                    "How long connecting to one of the server's addresses may take.")
            .withDefault("5s");

    public static final Setting<Duration> READ_TIMEOUT = Setting.of(
                    "s3.read-timeout",
                    duration(Duration.ofMillis(1), Duration.ofMinutes(10)),
                    "How long a connection may be idle during a request before it is considered broken and the request"
                            + " is retried.")
            .withDefault("15s");

    public static final Setting<Duration> RETRY_DEADLINE = Setting.of(
                    "s3.retry-deadline",
                    duration(Duration.ZERO, Duration.ofHours(1)),
                    "How long a read, a lookup or a listing is retried while the store is unreachable or failing."
                            + " After this time without a response, or a few seconds later, it fails with EIO. 0s: no"
                            + " retries.")
            .withDefault("2m");

    public static final Setting<URI> PROXY = Setting.of("s3.proxy", proxy(), "The HTTP proxy to use, with its port.")
            .withDefault(
                    "the environment's HTTPS_PROXY, or HTTP_PROXY for an endpoint of http, unless its NO_PROXY exempts"
                            + " the server; none for a server on this machine (localhost, 127.0.0.1, ::1)",
                    context -> null);

    public static final Setting<Path> CA_FILE = Setting.of(
                    "s3.ca-file",
                    path(),
                    "A file of certificates (PEM) to trust in addition to those that Java trusts. Not used with plain"
                            + " HTTP.")
            .fromEnvironment("AWS_CA_BUNDLE");

    public static final Setting<String> TLS = Setting.of(
                    "s3.tls",
                    choice("auto", "jdk"),
                    "What encrypts connections to the server and between nodes. auto: BoringSSL, where its library can"
                            + " be loaded. jdk: Java's own providers, which FIPS may require, at the cost of more CPU"
                            + " time. Java checks the certificates in both cases.")
            .withDefault("auto");

    public static final Setting<Path> CACHE_DIR = Setting.of(
                    "cache.dir",
                    path(),
                    "The folder for cached data, best on a local NVMe disk. Only one mount at a time can use it: put"
                            + " {bucket} in the path if it is set for several buckets.")
            .alias("cache")
            .withDefault(
                    "/var/cache/penstock/BUCKET for root, ~/.cache/penstock/BUCKET for others ($XDG_CACHE_HOME, if"
                            + " set, in place of ~/.cache)",
                    context -> context.host().cacheFolder().resolve(context.bucket()));

    public static final Setting<Long> CACHE_SIZE = Setting.of(
                    "cache.size",
                    size(MIB, Long.MAX_VALUE),
                    "The maximum size of the data in the cache folder, not including its index and, with"
                            + " metadata.refresh, 30 to 60 bytes for each object in the bucket.")
            .withDefault("64GiB")
            .live();

    public static final Setting<Long> CACHE_MIN_FREE = Setting.of(
                    "cache.min-free",
                    size(0, Long.MAX_VALUE),
                    "Bytes that the cache leaves free on its disk, whatever cache.size allows.")
            .withDefault("2GiB")
            .live();

    public static final Setting<Boolean> CACHE_PRIVATE = Setting.of(
                    "cache.private",
                    flag(),
                    "At start, delete data that was cached with another access key, or without this setting."
                            + " Temporary credentials have a new key each time: with them the cache starts empty.")
            .withDefault("false");

    public static final Setting<List<String>> WARM_PATHS = Setting.of(
            "warm.paths",
            paths(),
            "Files, folders and patterns, as for penstock warm, to fetch into the cache right after mounting. The"
                    + " mount does not wait for them.");

    public static final Setting<Boolean> WARM_PIN = Setting.of(
                    "warm.pin",
                    flag(),
                    "Whether to pin the files of warm.paths, so that they are not evicted until penstock unpin. If they"
                            + " do not all fit, none is fetched, and the log says so.")
            .withDefault("false");

    public static final Setting<Long> MEMORY = Setting.of(
                    "memory",
                    size(64 * MIB, Long.MAX_VALUE),
                    "The maximum memory for data in transit between the server, readers and the disk. The process needs"
                            + " about 300MiB more, and up to metadata.preload-memory for the names of very many"
                            + " objects. Together with write.memory, at most half of the machine's memory.")
            .withDefault(
                    "1/48 of the machine's memory, from 256MiB to 4GiB; on machines with less than 2GiB, an eighth, but"
                            + " at least 64MiB",
                    context -> context.host().shareOfMemory(48, 4 * GIB))
            .live();

    public static final Setting<Long> MAX_WINDOW = Setting.of(
                    "readahead.max-window",
                    mebibytes(0, 64 * GIB),
                    "The maximum distance that data is fetched ahead of a sequential reader; 0 turns readahead"
                            + " off. All readers together use at most half of memory.")
            .withDefault(
                    "an eighth of memory, 128MiB to 512MiB",
                    context -> Math.clamp(context.get(Settings.MEMORY) / 8 / MIB * MIB, 128 * MIB, 512 * MIB))
            .live();

    public static final Setting<Long> RANGE_SIZE = Setting.of(
                    "readahead.range-size", mebibytes(MIB, GIB), "The maximum size of one GET request; at most memory.")
            .withDefault("8MiB")
            .live();

    public static final Setting<Integer> READ_CONCURRENCY = Setting.of(
                    "readahead.concurrency", integer(1, 4096), "The maximum number of concurrent GET requests.")
            .withDefault(
                    "8 per processor or one per 64MiB of the machine's memory, whichever is less; from 96 to 256",
                    context -> context.host().forEachProcessor(8, 96, 256))
            .live();

    public static final Setting<Long> SMALL_FILE = Setting.of(
                    "readahead.small-file",
                    size(0, GIB),
                    "Objects up to this size are fetched whole at their first read, or earlier if a directory's objects"
                            + " are read in order or many of them are read in any order; 0 turns this off.")
            .withDefault("4MiB")
            .live();

    public static final Setting<Duration> METADATA_TTL = Setting.of(
                    "metadata.ttl",
                    duration(Duration.ZERO, Duration.ofDays(365)),
                    "How long names, sizes and listings are cached before they are requested again.")
            .withDefault("60s")
            .live();

    public static final Setting<Duration> NEGATIVE_TTL = Setting.of(
                    "metadata.negative-ttl",
                    duration(Duration.ZERO, Duration.ofDays(365)),
                    "How long the absence of a name is cached; up to twice as long in a folder with many"
                            + " lookups of absent names, while the folder is listed again.")
            .withDefault("5s")
            .live();

    public static final Setting<String> PRELOAD = Setting.of(
                    "metadata.preload",
                    choice("off", "auto", "on"),
                    "Whether the whole bucket is listed in the background: on, right after mounting; auto, once 32"
                            + " folders have been listed individually, if listing the bucket takes less than half the"
                            + " time that the result is valid; off, never. A listing takes one request per 1,000"
                            + " objects and about 30 to 60 bytes of memory per object.")
            .withDefault("auto");

    public static final Setting<Duration> REFRESH = Setting.of(
                    "metadata.refresh",
                    duration(Duration.ZERO, Duration.ofDays(365)),
                    "The time between two listings of the whole bucket. The names of a listing are cached until the"
                            + " next one instead of for metadata.ttl. 0 or metadata.preload=off turns this off.")
            .withDefault("0s");

    public static final Setting<Long> PRELOAD_MEMORY = Setting.of(
                    "metadata.preload-memory",
                    size(0, Long.MAX_VALUE),
                    "The maximum memory for the names of the whole bucket, in addition to memory and write.memory;"
                            + " with metadata.refresh, twice as much while the bucket is listed again. A bucket that"
                            + " needs more is listed folder by folder.")
            .withDefault(
                    "1/8 of the machine's memory, 64MiB to 8GiB",
                    context -> context.host().shareOfMemory(8, 8 * GIB));

    public static final Setting<Path> INDEX = Setting.of(
                    "metadata.index",
                    path(),
                    "A file with the names of the whole bucket, made by penstock index export or by Amazon S3"
                            + " Inventory (its manifest.json). The names are cached as long as the bucket is"
                            + " mounted, or until its first listing if metadata.refresh is set.")
            .alias("index");

    public static final Setting<Integer> LIST_CONCURRENCY = Setting.of(
                    "metadata.list-concurrency",
                    integer(1, 1024),
                    "The maximum number of concurrent listing requests for a folder of more than 4,000 names,"
                            + " or for the whole bucket.")
            .withDefault("16")
            .live();

    public static final Setting<String> ATTRIBUTES = Setting.of(
                    "metadata.attributes",
                    choice("ignore", "keep", "all"),
                    "Whether modes, owners, times, links and extended attributes are stored in object metadata. keep:"
                            + " yes, at the cost of one more HEAD for each file looked up in a directory where a mount"
                            + " has stored any. all: yes, and those stored by other programs (AWS DataSync, s3fs,"
                            + " rclone) are shown too, at the cost of a HEAD for each file. ignore: no.")
            .withDefault("keep");

    public static final Setting<Boolean> READ_ONLY = Setting.of(
                    "read-only", flag(), "Refuse all writes (Read-only file system); -o ro is the same.")
            .withDefault("false");

    public static final Setting<Boolean> NO_EXEC = Setting.of(
                    "noexec",
                    flag(),
                    "Do not allow programs in the bucket to run (Permission denied). In fstab, user and users imply it"
                            + " unless exec follows.")
            .withDefault("false");

    public static final Setting<Integer> UID = Setting.of(
                    "uid",
                    integer(0, Integer.MAX_VALUE),
                    "The owner, as a number, of files without a stored owner (metadata.attributes).")
            .withDefault("the mounting user's", context -> context.host().uid());

    public static final Setting<Integer> GID = Setting.of(
                    "gid",
                    integer(0, Integer.MAX_VALUE),
                    "The group, as a number, of files without a stored group (metadata.attributes).")
            .withDefault("the mounting user's", context -> context.host().gid());

    public static final Setting<Integer> FILE_MODE = Setting.of(
                    "file-mode", mode(), "Permission bits of files without stored ones (metadata.attributes).")
            .withDefault("0644");

    public static final Setting<Integer> DIR_MODE = Setting.of(
                    "dir-mode", mode(), "Permission bits of folders without stored ones (metadata.attributes).")
            .withDefault("0755");

    public static final Setting<String> BINDING = Setting.of(
                    "fuse.binding",
                    choice("auto", "kernel", "jnr"),
                    "The protocol between Penstock and the kernel: kernel, the kernel's own protocol (Linux"
                            + " 5.4 and newer); jnr, libfuse 2 through jnr-fuse; auto, kernel if it works, otherwise"
                            + " jnr.")
            .alias("binding")
            .withDefault("auto");

    public static final Setting<String> PASSTHROUGH = Setting.of(
                    "fuse.passthrough",
                    choice("off", "verified", "trusting"),
                    "Whether the kernel itself reads files of the cache, at the disk's speed, once the whole"
                            + " object is cached: off; verified, if every page was written or checked since the"
                            + " start; trusting, also unchecked. Needs root, Linux 6.9 and the kernel binding.")
            .withDefault("verified");

    public static final Setting<Long> PASSTHROUGH_FROM = Setting.of(
                    "fuse.passthrough-from",
                    size(0, Long.MAX_VALUE),
                    "The minimum size of a file for passthrough. For a file that is read in a single request,"
                            + " passthrough is slower than serving the request. Files below 1MiB are stored together"
                            + " and never passed through.")
            .withDefault("2MiB");

    public static final Setting<Boolean> ALLOW_OTHER = Setting.of(
                    "fuse.allow-other",
                    flag(),
                    "Let users other than the mounting one use the mount. Unless root mounts, this needs"
                            + " user_allow_other in /etc/fuse.conf.")
            .alias("allow-other")
            .withDefault(
                    "true for root, false for others", context -> context.host().isRoot());

    public static final Setting<Long> KERNEL_READAHEAD = Setting.of(
                    "fuse.readahead",
                    size(0, GIB),
                    "The kernel's readahead, which only root can raise, for small files and for files that were read in"
                            + " long runs before. Other files get 256 KiB, because a page fault anywhere in a mapping"
                            + " reads that much (not with fuse.binding=jnr). 0 keeps the kernel's value for all files.")
            .withDefault("4MiB");

    public static final Setting<Integer> THREADS = Setting.of(
                    "fuse.threads",
                    integer(1, 1024),
                    "The maximum number of concurrent kernel requests with fuse.binding=jnr. The kernel binding has no"
                            + " such limit.")
            .withDefault("32");

    public static final Setting<Boolean> STANDBY = Setting.of(
                    "fuse.standby",
                    flag(),
                    "Keep a second process ready that continues the mount when its process dies, within a fraction of a"
                            + " second instead of one or two seconds. It takes about 150 MiB of memory.")
            .withDefault("false");

    public static final Setting<Path> LOG_FILE = Setting.of(
                    "log.file",
                    path(),
                    "The log of the mount, readable only by its user. {mount} in the path is replaced by the mount"
                            + " point with dashes instead of slashes: each mount needs its own log.")
            .withDefault(
                    "/var/log/penstock/BUCKET@{mount}.log for root, ~/.local/state/penstock/BUCKET@{mount}.log for"
                            + " others ($XDG_STATE_HOME, if set, in place of ~/.local/state)",
                    context -> context.host().logFolder().resolve(context.bucket() + "@{mount}.log"));

    public static final Setting<String> LOG_LEVEL = Setting.of(
                    "log.level", choice("error", "warn", "info", "debug", "trace"), "The log level.")
            .withDefault("info")
            .live();

    public static final Setting<Path> ACCESS_LOG = Setting.of(
            "log.access",
            path(),
            "A file with one line for each call from the kernel: time, call, offset, bytes, result, microseconds, path."
                    + " {mount} is replaced as in log.file.");

    /** Settings that belong together, as the help and the documentation show them. */
    public record Group(String title, List<Setting<?>> settings) {}

    public static final List<Group> GROUPS = List.of(
            new Group("The server", List.of(ENDPOINT, REGION, PATH_STYLE, CHECKSUMS, PROXY, CA_FILE, TLS)),
            new Group("Credentials", List.of(PROFILE, ANONYMOUS, REQUESTER_PAYS)),
            new Group(
                    "Cache and memory",
                    List.of(CACHE_DIR, CACHE_SIZE, CACHE_MIN_FREE, CACHE_PRIVATE, MEMORY, WARM_PATHS, WARM_PIN)),
            new Group(
                    "Names and attributes",
                    List.of(
                            METADATA_TTL,
                            NEGATIVE_TTL,
                            PRELOAD,
                            REFRESH,
                            PRELOAD_MEMORY,
                            INDEX,
                            LIST_CONCURRENCY,
                            ATTRIBUTES)),
            new Group("Permissions", List.of(READ_ONLY, NO_EXEC, ALLOW_OTHER, UID, GID, FILE_MODE, DIR_MODE)),
            new Group("Readahead", List.of(MAX_WINDOW, RANGE_SIZE, READ_CONCURRENCY, SMALL_FILE, KERNEL_READAHEAD)),
            WriteSettings.WRITING,
            WriteSettings.UPLOADS,
            new Group(
                    "Connections and requests",
                    List.of(
                            HTTP_CLIENT,
                            CONNECTIONS,
                            CONNECT_TIMEOUT,
                            READ_TIMEOUT,
                            RETRY_DEADLINE,
                            BINDING,
                            PASSTHROUGH,
                            PASSTHROUGH_FROM,
                            STANDBY,
                            THREADS)),
            new Group("Log", List.of(LOG_FILE, LOG_LEVEL, ACCESS_LOG)),
            ShareSettings.GROUP,
            MetricsSettings.METRICS,
            CostSettings.GROUP);

    /** All settings. */
    public static final List<Setting<?>> ALL =
            GROUPS.stream().flatMap(group -> group.settings().stream()).toList();

    private Settings() {}

    /** The setting with this key in a file. */
    static Optional<Setting<?>> byKey(String key) {
        return ALL.stream().filter(setting -> setting.key().equals(key)).findFirst();
    }

    /** In {@code -o}, {@code cache_size}, {@code cache-size} and {@code cache.size} are the same setting. */
    static Optional<Setting<?>> byMountOption(String name) {
        String dashed = name.replace('_', '-').replace('.', '-');
        return ALL.stream().filter(setting -> setting.names().contains(dashed)).findFirst();
    }
}
