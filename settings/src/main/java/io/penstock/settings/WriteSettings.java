package io.penstock.settings;

import static io.penstock.settings.ValueType.choice;
import static io.penstock.settings.ValueType.duration;
import static io.penstock.settings.ValueType.flag;
import static io.penstock.settings.ValueType.integer;
import static io.penstock.settings.ValueType.multiples;
import static io.penstock.settings.ValueType.path;
import static io.penstock.settings.ValueType.size;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The {@link Settings} for writing. */
public final class WriteSettings {
    /** Bytes of a logical block of written data. */
    private static final int BLOCK = 4 << 20;

    private static final long GIB = 1L << 30;
    private static final long TIB = 1L << 40;

    public static final Setting<String> CLOSE = Setting.of(
                    "write.close",
                    choice("visible", "staged"),
                    "When closing a written file returns: visible, once all nodes can see the object; staged,"
                            + " once the content would survive a crash of this machine; it is then uploaded in the"
                            + " background.")
            .withDefault("visible");

    public static final Setting<String> FSYNC = Setting.of(
                    "write.fsync",
                    choice("staged", "visible"),
                    "When fsync returns: staged, once the content would survive a crash of this machine;"
                            + " visible, once all nodes can see the object.")
            .withDefault("staged");

    public static final Setting<String> EXCLUSIVE = Setting.of(
                    "write.exclusive",
                    choice("close", "store"),
                    "When an exclusive create (O_EXCL, used for lock files) detects a file created by another node:"
                            + " close, when the file is closed or fsynced; store, immediately, at the cost of one"
                            + " request per open.")
            .withDefault("close");

    public static final Setting<String> LINKS = Setting.of(
                    "write.links",
                    choice("copy", "refuse"),
                    "What a hard link (ln, link(2)) does, because an object has only one name: copy, lets the store"
                            + " copy the object if the new name does not exist on any node; refuse, fails with EPERM.")
            .withDefault("copy");

    public static final Setting<Integer> MOST_RENAMED = Setting.of(
                    "rename.most-objects",
                    integer(0, 10_000_000),
                    "The maximum number of objects in a directory to rename: the server copies each of them. Renaming"
                            + " a larger directory fails with EXDEV; mv then copies and removes the files through the"
                            + " mount, other programs fail. 0 refuses every directory.")
            .withDefault("100000");

    public static final Setting<Long> MEMORY = Setting.of(
                    "write.memory",
                    size(2 * BLOCK, Long.MAX_VALUE),
                    "The maximum memory for written data that is neither staged nor uploaded yet, in addition to the"
                            + " setting memory; together, at most half of the machine's memory.")
            .withDefault(
                    "1/24 of the machine's memory, from 256MiB to 8GiB; on machines with less than 2GiB, an eighth, but"
                            + " at least 64MiB",
                    context -> context.host().shareOfMemory(24, 8 * GIB))
            .live();

    public static final Setting<Path> STAGING = Setting.of(
                    "write.staging",
                    path(),
                    "The folder that holds written data until it is uploaded: data, not a cache. Best on the same local"
                            + " NVMe disk as cache.dir; on another file system, written data must be fetched again when"
                            + " it is read.")
            .withDefault(
                    "the folder staging in cache.dir, if set and not below a cache folder (/var/cache, ~/.cache,"
                            + " $XDG_CACHE_HOME); otherwise /var/lib/penstock/staging/BUCKET for root,"
                            + " ~/.local/state/penstock/staging/BUCKET for others ($XDG_STATE_HOME, if set, in place of"
                            + " ~/.local/state)",
                    WriteSettings::defaultStaging);

    public static final Setting<Long> STAGING_SIZE = Setting.of(
                    "write.staging-size",
                    size(2 * BLOCK, Long.MAX_VALUE),
                    "The maximum size of the staging folder; when it is full, writers wait for uploads. It"
                            + " comes on top of cache.size.")
            .withDefault(
                    "cache.size, but at least 8MiB", context -> Math.max(2 * BLOCK, context.get(Settings.CACHE_SIZE)))
            .live();

    public static final Setting<String> CHECKSUMS = Setting.of(
                    "write.checksums",
                    choice("crc32c", "md5", "none"),
                    "The checksum that is sent with each upload for the server to check. Older S3-compatible"
                            + " servers know only md5, which costs far more.")
            .withDefault("crc32c");

    public static final Setting<Boolean> SIGNED_BODIES = Setting.of(
                    "write.sign-bodies",
                    flag(),
                    "Sign the bytes of uploads over plain HTTP too, for servers that require it; it costs"
                            + " about as much as sending them. Over HTTPS they are never signed.")
            .withDefault("false");

    public static final Setting<Duration> RETRY_DEADLINE = Setting.of(
                    "write.retry-deadline",
                    duration(Duration.ZERO, Duration.ofDays(36_500)),
                    "How long mkdir, rm, rmdir and rename, and close and fsync if they wait for the store"
                            + " (write.close, write.fsync), are retried while the store is unreachable or failing."
                            + " After this time without progress, or a few seconds later, they fail with EIO. 0s: no"
                            + " retries; 36500d: never fail. Uploads in the background are retried until they"
                            + " succeed. The mount stays usable.")
            .withDefault("15m");

    public static final Setting<Integer> UPLOAD_CONCURRENCY = Setting.of(
                    "upload.concurrency", integer(1, 4096), "The maximum number of concurrent uploads (PUT requests).")
            .withDefault(
                    "4 per processor or one per 64MiB of the machine's memory, whichever is less; from 32 to 128",
                    context -> context.host().forEachProcessor(4, 32, 128))
            .live();

    public static final Setting<Integer> UPLOAD_CONCURRENCY_PER_FILE = Setting.of(
                    "upload.concurrency-per-file",
                    integer(1, 4096),
                    "The maximum number of concurrent uploads of one file.")
            .withDefault(
                    "2 per processor or one per 64MiB of the machine's memory, whichever is less; from 16 to 64",
                    context -> context.host().forEachProcessor(2, 16, 64))
            .live();

    public static final Setting<Integer> UPLOAD_CONCURRENCY_WHILE_STAGING = Setting.of(
                    "upload.concurrency-while-staging",
                    integer(1, 4096),
                    "The maximum number of concurrent uploads while programs write with write.close=staged: it"
                            + " leaves the processors and the disk to these programs.")
            .withDefault(
                    "half of the processors",
                    context -> Math.max(1, context.host().processors() / 2))
            .live();

    public static final Setting<Long> PART_SIZE = Setting.of(
                    "upload.part-size",
                    multiples(BLOCK, 2 * BLOCK, 5 * GIB),
                    "The size of a file's first parts; later parts grow so that 10,000 suffice.")
            .withDefault("8MiB")
            .live();

    public static final Setting<Long> LARGEST_OBJECT = Setting.of(
                    "upload.largest-object",
                    size(5 * GIB, 50 * TIB),
                    "The largest object that the store accepts: 5TiB for most stores, 50TB for S3 itself."
                            + " Parts grow so that a file can reach it.")
            .withDefault("5TiB");

    public static final Setting<Boolean> WRITEBACK_CACHE = Setting.of(
                    "fuse.writeback-cache",
                    flag(),
                    "Let the kernel collect written data and send it in large pieces: writes of a few KiB are"
                            + " several times as fast, large writes are a little slower. Switches fuse.passthrough"
                            + " off; needs the kernel binding.")
            .withDefault("false");

    public static final Setting<String> PARTS = Setting.of(
                    "upload.parts",
                    choice("growing", "equal"),
                    "The sizes of a file's parts: growing, small parts first, larger ones as the file grows; equal, all"
                            + " but the last the same size, for stores that require it; Penstock notices such"
                            + " a store when it refuses the first upload. New files of more than 10,000 times"
                            + " upload.part-size (78GiB) are then uploaded again when they are closed, in larger parts:"
                            + " set upload.part-size to a ten-thousandth of your largest file.")
            .withDefault(
                    "equal on Cloudflare R2 (s3.endpoint below r2.cloudflarestorage.com), else growing",
                    context -> context.find(Settings.ENDPOINT)
                                    .filter(WriteSettings::isR2)
                                    .isPresent()
                            ? "equal"
                            : "growing");

    static final Settings.Group WRITING = new Settings.Group(
            "Writing",
            List.of(CLOSE, FSYNC, EXCLUSIVE, LINKS, MOST_RENAMED, MEMORY, STAGING, STAGING_SIZE, WRITEBACK_CACHE));

    static final Settings.Group UPLOADS = new Settings.Group(
            "Uploads",
            List.of(
                    UPLOAD_CONCURRENCY,
                    UPLOAD_CONCURRENCY_PER_FILE,
                    UPLOAD_CONCURRENCY_WHILE_STAGING,
                    PART_SIZE,
                    PARTS,
                    LARGEST_OBJECT,
                    CHECKSUMS,
                    SIGNED_BODIES,
                    RETRY_DEADLINE));

    private WriteSettings() {}

    private static boolean isR2(URI endpoint) {
        String host = endpoint.getHost();
        return host != null && host.endsWith(".r2.cloudflarestorage.com");
    }

    /**
     * The contents of a folder for caches may be removed at any time. A folder chosen by the user belongs to Penstock
     * alone.
     */
    private static Path defaultStaging(Setting.Context context) {
        Path cache = context.get(Settings.CACHE_DIR);
        Host host = context.host();
        return host.isForCaches(cache)
                ? host.stateFolder().resolve("staging").resolve(context.bucket())
                : cache.resolve("staging");
    }
}
