package io.penstock.cli;

import io.penstock.cache.CacheConfig;
import io.penstock.cache.PageCache;
import io.penstock.cache.disk.CacheFolder;
import io.penstock.core.Printable;
import io.penstock.disk.FolderLock;
import io.penstock.metadata.Tree;
import io.penstock.metadata.attributes.DirectoryMarkers;
import io.penstock.metadata.attributes.MarkingObjectStore;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RefusingObjectStore;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.s3.S3ObjectStore;
import io.penstock.prefetch.PageFetcher;
import io.penstock.serve.control.Json;
import io.penstock.serve.mount.BucketMount;
import io.penstock.serve.mount.MountPlan;
import io.penstock.serve.mount.Target;
import io.penstock.settings.ByteSizes;
import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.Host;
import io.penstock.settings.Setting;
import io.penstock.settings.SettingSource;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import io.penstock.settings.process.Folders;
import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
import io.penstock.writeback.RecoverableFile;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WrittenFile;
import io.penstock.writeback.staging.StagingFolder;
import io.penstock.writeback.staging.StrandedFile;
import io.penstock.writeback.staging.UnreadableFile;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "recover",
        description = {
            "Lists, uploads, exports or discards written files that could not be uploaded.",
            "",
            "A written file stays in the staging folder until it is uploaded. After a crash, the next mount"
                    + " continues automatically. A file that it cannot upload, for instance because another client has"
                    + " changed the object, waits for this command. While the bucket is mounted with this cache folder,"
                    + " files can be listed and exported; to commit or discard them, unmount first."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:no file is waiting, or the action is done",
            "1:the action failed for some files; the reason was printed",
            "2:the command line or the configuration is wrong; nothing was tried",
            "3:the list shows waiting files"
        },
        footer = {
            "",
            "Examples:",
            "  penstock recover my-bucket",
            "  penstock recover my-bucket --export ~/rescued",
            "  penstock recover my-bucket --commit checkpoints/step-1000.pt"
        })
final class RecoverCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "BUCKET[/PREFIX]", description = "The mounted bucket or folder.")
    private String source;

    @Parameters(index = "1..*", paramLabel = "KEY", description = "The objects; all if none is given.")
    private List<String> keys = new ArrayList<>();

    @ArgGroup
    private What what = new What();

    @Option(names = "--json", description = "Print the list as a JSON array of objects.")
    private boolean json;

    @Mixin
    private ConfigurationArguments arguments;

    /** A view of the staging folder of a running mount, while this command runs; else null. */
    private @Nullable Path view;

    private Path of = Path.of("");

    /** The action; without any of these options the files are listed. */
    static final class What {
        @Option(names = "--list", description = "Show the waiting files; changes nothing. The default.")
        @SuppressWarnings("UnusedVariable") // The default action.
        private boolean list;

        @Option(
                names = "--commit",
                description = "Upload the files, replacing the bucket's objects, and files that an earlier mount had"
                        + " not uploaded. Of several versions of a file only the last is uploaded; the others stay.")
        private boolean commit;

        @Option(
                names = "--export",
                paramLabel = "DIR",
                description = "Write them to files in this folder; older versions have the time appended to the name.")
        private @Nullable Path export;

        @Option(names = "--discard", description = "Delete them permanently.")
        private boolean discard;

        private boolean isList() {
            return !commit && export == null && !discard;
        }
    }

    @Override
    public Integer call()
            throws RefusedException, ConfigurationException, ObjectStoreException, IOException, InterruptedException {
        if (json && !what.isList()) {
            throw new ParameterException(spec.commandLine(), "--json works only with --list");
        }
        Target target = Target.parse(source);
        Configuration configuration =
                arguments.resolve(target.bucket(), spec.commandLine().getParseResult(), "-o");
        RecoverySearch search = new RecoverySearch(target, configuration, arguments.file());
        MountPlan plan = MountPlan.of(target, Host.current().path("."), configuration); // Nothing is mounted.
        Path staging = plan.writeback().staging();
        try {
            return run(search, plan, target);
        } catch (FolderLock.TakenException e) {
            if (what.commit || what.discard) {
                throw new RefusedException(String.valueOf(e.getMessage()).replaceFirst(";.*", "")
                        + ": if that is a mount, unmount first; --list and --export work while it is mounted");
            }
            return besideAMount(search, configuration, target, staging);
        }
    }

    /** Works on files that could not be uploaded, which a mount leaves alone. */
    private int besideAMount(RecoverySearch search, Configuration configuration, Target target, Path staging)
            throws RefusedException, ConfigurationException, ObjectStoreException, InterruptedException {
        try {
            Path folder = Files.createTempDirectory(staging.getParent(), ".penstock-recover-");
            view = folder.resolve("staging");
            of = staging;
            try {
                StagingFolder.view(staging, Files.createDirectory(view));
                Map<Setting<?>, String> folders = Map.of(
                        Settings.CACHE_DIR, folder.resolve("cache").toString(),
                        WriteSettings.STAGING, view.toString());
                return run(
                        search,
                        MountPlan.of(
                                target,
                                Host.current().path("."),
                                configuration.with(SettingSource.ofOptions(folders, Map.of()))),
                        target);
            } finally {
                Folders.delete(folder);
            }
        } catch (IOException e) {
            throw new RefusedException("the staging folder " + staging + " is in use by a mount and cannot be read: "
                    + Reason.of(e) + "; unmount first");
        }
    }

    private int run(RecoverySearch search, MountPlan plan, Target target)
            throws RefusedException, ObjectStoreException, FolderLock.TakenException, InterruptedException {
        Path staging = plan.writeback().staging();
        if (Files.notExists(staging)) {
            return nothingWaits(search);
        }
        if (!Files.isReadable(staging)) {
            throw new RefusedException("the staging folder " + staging + " cannot be read; try as the mount's user");
        }
        try (ObjectStore store = connect(plan);
                PageCache cache = openCache(plan);
                PageFetcher fetcher = new PageFetcher(store, cache, plan.namespace(), plan.readahead());
                Tree tree = new Tree(store, target.prefix(), plan.metadata(), System::nanoTime);
                DirectoryMarkers markers = new DirectoryMarkers(store, tree, System::nanoTime);
                Writeback writeback =
                        BucketMount.openWriteback(plan, new MarkingObjectStore(store, markers), cache, fetcher, null)) {
            if (!writeback.knowsEarlierRuns()) {
                throw new RefusedException(
                        "the staging folder " + staging + " cannot be used, so waiting files are unknown; see above");
            }
            if (what.commit) {
                Files.deleteIfExists(CacheFolder.names(plan.cache().directory())); // it would hide uploaded data
            }
            return settle(search, writeback);
        } catch (FolderLock.TakenException e) {
            throw e;
        } catch (IOException e) {
            throw new RefusedException(Reason.of(e));
        }
    }

    /** Waiting files can be shown, exported and discarded even if the bucket is gone or access to it is denied. */
    private ObjectStore connect(MountPlan plan) throws ObjectStoreException, InterruptedException {
        try {
            return S3ObjectStore.connect(plan.s3(), plan.target().prefix());
        } catch (ObjectStoreException e) {
            if (what.commit) {
                throw e;
            }
            spec.commandLine()
                    .getErr()
                    .println(Printable.text("penstock: " + e.getMessage() + "; continuing without the bucket"));
            return new RefusingObjectStore(plan.target().bucket(), e);
        }
    }

    /**
     * The list leaves the cache unchanged: nothing is evicted or removed. Without credentials, waiting files can still
     * be exported; the next user with credentials empties the cache.
     */
    private CacheConfig cacheConfig(MountPlan plan) {
        if (what.isList()) {
            CacheConfig cache = plan.cache();
            return new CacheConfig(
                    cache.directory(), Long.MAX_VALUE, 0, cache.memoryBytes(), new CacheFolder.Audience.Nobody());
        }
        try {
            return BucketMount.cacheConfig(plan);
        } catch (ObjectStoreException e) {
            return plan.cache();
        }
    }

    private PageCache openCache(MountPlan plan) throws RefusedException, FolderLock.TakenException {
        try {
            return PageCache.open(cacheConfig(plan));
        } catch (FolderLock.TakenException e) {
            throw e;
        } catch (IOException e) {
            throw new RefusedException(Reason.of(e));
        }
    }

    private int settle(RecoverySearch search, Writeback writeback) throws IOException, InterruptedException {
        List<RecoverableFile> kept = meant(writeback.failed());
        boolean beside = view != null; // then the mount is working on all others
        List<RecoverableFile> pending = beside ? List.of() : meant(writeback.pending());
        List<UnreadableFile> unreadable = beside ? List.of() : writeback.unreadable();
        List<StrandedFile> stranded = beside ? List.of() : writeback.stranded();
        boolean waits = !kept.isEmpty() || !pending.isEmpty() || !unreadable.isEmpty() || !stranded.isEmpty();
        int listed = what.isList() && waits ? ExitCode.FILES_WAIT : ExitCode.DONE;
        if (json) {
            say(Json.line(PendingFileJson.of(kept, pending, unreadable, stranded)));
            spec.commandLine().getOut().flush();
            return listed;
        }
        unreadable.forEach(file -> say(describe(file)));
        stranded.forEach(file -> say("'" + file.key() + "' (" + ByteSizes.print(file.size()) + ") was written to "
                + file.namespace() + ", and waits for a mount of it"));
        search.others(stranded).forEach(this::say);
        if (writeback.failed().isEmpty() && (beside || writeback.pending().isEmpty()) && unreadable.isEmpty()) {
            return Math.max(listed, nothingWaits(search));
        }
        if (what.commit) {
            writeback.recordOlder();
        }
        boolean good = true;
        for (String key : keys) {
            if (Stream.concat(kept.stream(), pending.stream())
                    .noneMatch(file -> file.key().equals(key))) {
                say("'" + key + "': no file is waiting for this key");
                good = false;
            }
        }
        for (RecoverableFile file : kept) {
            good &= settle(file);
        }
        if (what.commit && !pending.isEmpty()) {
            good &= upload(writeback, pending);
        } else {
            for (RecoverableFile file : pending) {
                good &= settle(file);
            }
        }
        spec.commandLine().getOut().flush();
        return good ? listed : ExitCode.FAILED;
    }

    private int nothingWaits(RecoverySearch search) {
        if (json) {
            say("[]");
            spec.commandLine().getOut().flush();
            return ExitCode.DONE;
        }
        for (String key : keys) {
            say("'" + key + "': no file is waiting for this key");
        }
        search.nothing().forEach(this::say);
        spec.commandLine().getOut().flush();
        return keys.isEmpty() ? ExitCode.DONE : ExitCode.FAILED;
    }

    /** Continues the uploads of an earlier mount, as the next mount would. */
    private boolean upload(Writeback writeback, List<RecoverableFile> pending) throws InterruptedException {
        Set<String> failed = ConcurrentHashMap.newKeySet();
        writeback.upload(pending, new Failures(failed));
        for (RecoverableFile file : pending) {
            say(describe(file) + (failed.contains(file.key()) ? ": left unchanged" : ": uploaded"));
        }
        return failed.isEmpty();
    }

    private boolean settle(RecoverableFile file) throws InterruptedException {
        String name = describe(file);
        try {
            if (what.commit) {
                file.commit();
                say(name + ": uploaded");
            } else if (what.export != null) {
                say(name + ": written to " + file.export(Host.current().path(what.export.toString())));
            } else if (what.discard && file.reason() == null && keys.isEmpty()) {
                say(name + ": the next mount will upload it; give its key to remove it");
            } else if (what.discard) {
                file.discard();
                say(name + ": removed");
            } else {
                String reason =
                        Objects.requireNonNullElse(file.reason(), "will be uploaded by the next mount or by --commit");
                say(name + ", written " + file.modified().truncatedTo(ChronoUnit.SECONDS) + ": " + reason
                        + "; its content is in " + file.where());
            }
            return true;
        } catch (ObjectStoreException e) {
            say(name + ": left unchanged: " + e.getMessage());
        } catch (FileAlreadyExistsException e) {
            say(name + ": left unchanged: " + e.getFile() + " already exists");
        } catch (IOException e) {
            say(name + ": left unchanged: " + Reason.of(e));
        }
        return false;
    }

    private void say(String line) {
        String shown = view == null ? line : line.replace(view.toString(), of.toString());
        spec.commandLine().getOut().println(Printable.text(shown));
    }

    private List<RecoverableFile> meant(List<RecoverableFile> files) {
        return files.stream()
                .filter(file -> keys.isEmpty() || keys.contains(file.key()))
                .toList();
    }

    private static String describe(RecoverableFile file) {
        return "'" + file.key() + "' (" + ByteSizes.print(file.size()) + ")";
    }

    /** Says where an unreadable file's data and journal are: the user must rescue them by hand. */
    private static String describe(UnreadableFile file) {
        String key = file.key() == null ? "A file with an unknown name" : "'" + file.key() + "'";
        String data = file.data() == null ? "" : "; the written data is in " + file.data();
        return key + " cannot be read: " + file.reason() + data + "; its journal is " + file.journal()
                + ". A later version may be able to read it; otherwise "
                + (file.data() == null ? "remove the journal" : "copy the data that you need, and remove both files");
    }

    /** Objects committed here appear at the next mount. */
    private record Failures(Set<String> keys) implements Writeback.Listener {
        @Override
        public void committed(WrittenFile file, StoredObject object) {}

        @Override
        public void abandoned(WrittenFile file) {
            keys.add(file.key());
        }
    }
}
