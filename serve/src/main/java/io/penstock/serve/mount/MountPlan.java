package io.penstock.serve.mount;

import io.penstock.cache.CacheConfig;
import io.penstock.cache.disk.CacheFolder;
import io.penstock.core.Namespace;
import io.penstock.disk.ExposedFolder;
import io.penstock.filesystem.AllowedUsers;
import io.penstock.filesystem.FileSystemConfig;
import io.penstock.filesystem.Passthrough;
import io.penstock.filesystem.names.Exclusive;
import io.penstock.filesystem.names.Links;
import io.penstock.fuse.Binding;
import io.penstock.fuse.MountOptions;
import io.penstock.metadata.MetadataConfig;
import io.penstock.metadata.PreloadConfig;
import io.penstock.metadata.attributes.KeptAttributes.Keeping;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.http.TlsEngine;
import io.penstock.objectstore.s3.S3Config;
import io.penstock.objectstore.s3.S3Config.Checksums;
import io.penstock.objectstore.s3.S3Config.Credentials;
import io.penstock.objectstore.s3.S3Config.HttpClient;
import io.penstock.objectstore.s3.S3Config.Integrity;
import io.penstock.objectstore.s3.S3Config.Limits;
import io.penstock.objectstore.s3.S3Config.Requester;
import io.penstock.objectstore.s3.S3Config.Server;
import io.penstock.objectstore.s3.S3Config.UploadChecksums;
import io.penstock.prefetch.ReadaheadConfig;
import io.penstock.settings.Configuration;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import io.penstock.settings.process.Version;
import io.penstock.writeback.WritebackConfig;
import io.penstock.writeback.WritebackConfig.Close;
import io.penstock.writeback.WritebackConfig.Fsync;
import io.penstock.writeback.upload.Uploads.PartSizes;
import io.penstock.writeback.upload.WritebackLimits;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A mount and all its options: the only place where settings become the modules' configurations. */
public record MountPlan(
        Target target,
        S3Config s3,
        CacheConfig cache,
        boolean cacheIsPrivate,
        ReadaheadConfig readahead,
        MetadataConfig metadata,
        WritebackConfig writeback,
        Exclusive exclusive,
        Links links,
        int mostRenamed,
        Keeping attributes,
        FileSystemConfig files,
        MountOptions mount,
        Binding binding,
        @Nullable Path index,
        @Nullable SharePlan share) {

    public static MountPlan of(Target target, Path mountPoint, Configuration configuration) {
        return of(target, mountPoint, configuration, credentials(configuration));
    }

    /** With credentials other than the configured ones. */
    public static MountPlan of(Target target, Path mountPoint, Configuration configuration, Credentials credentials) {
        // A read-only mount needs no writeback cache, and gets passthrough.
        boolean writebackCache =
                configuration.get(WriteSettings.WRITEBACK_CACHE) && !configuration.get(Settings.READ_ONLY);
        boolean passesThrough =
                configuration.get(Settings.PASSTHROUGH, Passthrough.class) != Passthrough.OFF && !writebackCache;
        return new MountPlan(
                target,
                s3(target.bucket(), credentials, configuration),
                new CacheConfig(
                        configuration.get(Settings.CACHE_DIR),
                        configuration.get(Settings.CACHE_SIZE),
                        configuration.get(Settings.CACHE_MIN_FREE),
                        configuration.get(Settings.MEMORY)),
                configuration.get(Settings.CACHE_PRIVATE),
                new ReadaheadConfig(
                        configuration.get(Settings.MAX_WINDOW),
                        configuration.get(Settings.RANGE_SIZE),
                        configuration.get(Settings.READ_CONCURRENCY),
                        configuration.get(Settings.SMALL_FILE)),
                new MetadataConfig(
                        configuration.get(Settings.METADATA_TTL),
                        configuration.get(Settings.NEGATIVE_TTL),
                        configuration.get(Settings.LIST_CONCURRENCY),
                        preload(target, configuration)),
                writeback(configuration),
                configuration.get(WriteSettings.EXCLUSIVE, Exclusive.class),
                configuration.get(WriteSettings.LINKS, Links.class),
                configuration.get(WriteSettings.MOST_RENAMED),
                configuration.get(Settings.ATTRIBUTES, Keeping.class),
                new FileSystemConfig(
                        configuration.get(Settings.UID),
                        configuration.get(Settings.GID),
                        configuration.get(Settings.FILE_MODE),
                        configuration.get(Settings.DIR_MODE),
                        configuration.get(Settings.ALLOW_OTHER) ? AllowedUsers.ALL : AllowedUsers.MOUNTING,
                        FileSystemConfig.mostNames(Runtime.getRuntime().maxMemory()),
                        configuration.get(Settings.PASSTHROUGH, Passthrough.class),
                        configuration.get(Settings.PASSTHROUGH_FROM),
                        writebackCache),
                new MountOptions(
                        mountPoint,
                        target.source(),
                        configuration.get(Settings.READ_ONLY),
                        configuration.get(Settings.NO_EXEC),
                        configuration.get(Settings.ALLOW_OTHER),
                        configuration.get(Settings.METADATA_TTL),
                        configuration.get(Settings.KERNEL_READAHEAD),
                        configuration.get(Settings.THREADS),
                        passesThrough ? configuration.get(Settings.CACHE_DIR) : null,
                        writebackCache),
                configuration.get(Settings.BINDING, Binding.class),
                configuration.find(Settings.INDEX).orElse(null),
                SharePlan.of(configuration));
    }

    /** The cache folder, and the staging folder if the mount writes. */
    public static List<Path> folders(Configuration configuration) {
        Path cache = configuration.get(Settings.CACHE_DIR);
        return configuration.get(Settings.READ_ONLY)
                ? List.of(cache)
                : List.of(cache, configuration.get(WriteSettings.STAGING));
    }

    /** How to fix a folder above {@link #folders} that other users can replace: the end of a sentence. */
    public static String mend(ExposedFolder folder) {
        return folder.mend() + ", or set " + Settings.CACHE_DIR + " and " + WriteSettings.STAGING
                + " to folders elsewhere";
    }

    /** Distinguishes this bucket's pages from those of a bucket with the same name elsewhere. */
    public String namespace() {
        return Namespace.of(s3.server().endpoint(), s3.bucket());
    }

    /** The origin of the mount's names. Names stored for the next mount are valid only if it has the same origin. */
    public String owner() {
        return owner(s3.server().endpoint(), target);
    }

    private static String owner(@Nullable URI endpoint, Target target) {
        return Namespace.of(endpoint, target.bucket()) + "/" + target.prefix();
    }

    private static PreloadConfig preload(Target target, Configuration configuration) {
        Duration refresh = configuration.get(Settings.REFRESH);
        return new PreloadConfig(
                configuration.get(Settings.PRELOAD, PreloadConfig.Mode.class),
                refresh.isZero() ? null : refresh,
                configuration.get(Settings.PRELOAD_MEMORY),
                new PreloadConfig.Kept(
                        CacheFolder.names(configuration.get(Settings.CACHE_DIR)),
                        owner(configuration.find(Settings.ENDPOINT).orElse(null), target)));
    }

    private static WritebackConfig writeback(Configuration configuration) {
        return new WritebackConfig(
                configuration.get(WriteSettings.STAGING),
                configuration.get(WriteSettings.CLOSE, Close.class),
                configuration.get(WriteSettings.FSYNC, Fsync.class),
                configuration.get(WriteSettings.PARTS, PartSizes.class),
                configuration.get(WriteSettings.LARGEST_OBJECT),
                new WritebackLimits.Values(
                        configuration.get(WriteSettings.UPLOAD_CONCURRENCY),
                        configuration.get(WriteSettings.UPLOAD_CONCURRENCY_PER_FILE),
                        configuration.get(WriteSettings.UPLOAD_CONCURRENCY_WHILE_STAGING),
                        configuration.get(WriteSettings.MEMORY),
                        configuration.get(WriteSettings.STAGING_SIZE),
                        configuration.get(WriteSettings.PART_SIZE)));
    }

    private static S3Config s3(String bucket, Credentials credentials, Configuration configuration) {
        return new S3Config(
                bucket,
                new Server(
                        configuration.find(Settings.ENDPOINT).orElse(null),
                        configuration.find(Settings.REGION).orElse(null),
                        configuration.get(Settings.PATH_STYLE),
                        configuration.find(Settings.PROXY).orElse(null),
                        configuration.find(Settings.CA_FILE).orElse(null),
                        configuration.get(Settings.TLS, TlsEngine.class)),
                new Requester(
                        credentials,
                        configuration.find(Settings.PROFILE).orElse(null),
                        configuration.get(Settings.REQUESTER_PAYS),
                        "penstock/" + Version.NUMBER),
                configuration.get(Settings.HTTP_CLIENT, HttpClient.class),
                new Limits(
                        configuration.get(Settings.CONNECTIONS),
                        configuration.get(Settings.CONNECT_TIMEOUT),
                        configuration.get(Settings.READ_TIMEOUT)),
                new Integrity(
                        configuration.get(Settings.CHECKSUMS, Checksums.class),
                        configuration.get(WriteSettings.CHECKSUMS, UploadChecksums.class),
                        configuration.get(WriteSettings.SIGNED_BODIES)),
                new RetryPolicy(
                        configuration.get(Settings.RETRY_DEADLINE), configuration.get(WriteSettings.RETRY_DEADLINE)));
    }

    private static Credentials credentials(Configuration configuration) {
        return configuration.get(Settings.ANONYMOUS) ? new Credentials.Anonymous() : new Credentials.Chain();
    }
}
