package io.penstock.csi;

import io.grpc.Status;
import io.penstock.fuse.KernelMount;
import io.penstock.fuse.MountException;
import io.penstock.fuse.MountTable;
import io.penstock.fuse.Preflight;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import io.penstock.settings.process.Folders;
import io.penstock.settings.process.Secrets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one mount of a key, at STATE/mounts/KEY/mnt, which pods see at their targets. Next to it is what it needs. Only the
 * thread that has the key's lock calls this.
 */
final class SharedMount {
    private static final Logger log = LoggerFactory.getLogger(SharedMount.class);

    static final String MOUNT_POINT = "mnt";

    /** Less than kubelet's two minutes. */
    private static final Duration MOUNT_LIMIT = Duration.ofSeconds(90);

    /** An unmount waits for uploads. */
    private static final Duration UNMOUNT_LIMIT = Duration.ofDays(7);

    /** MS_NOSUID and MS_NODEV of mount(2), as for every mount of Penstock. */
    private static final int ALWAYS = 2 | 4;

    private static final int READ_ONLY = 1;
    private static final int NO_EXEC = 8;

    private final Setup setup;
    private final String key;
    private final Path folder;
    private final Path mountPoint;

    /** @param mounts the folder of all shared mounts */
    SharedMount(Setup setup, Path mounts, String key) {
        this.setup = setup;
        this.key = key;
        this.folder = mounts.resolve(key);
        this.mountPoint = folder.resolve(MOUNT_POINT);
    }

    /** As the kernel sees it; empty if it is not mounted. */
    Optional<KernelMount> mounted() throws IOException {
        return MountTable.read().at(mountPoint).map(entry -> new KernelMount(mountPoint, entry.device()));
    }

    /** The same, but a mount whose server has ended is removed first. */
    Optional<KernelMount> alive() throws IOException, MountException {
        Optional<KernelMount> mounted = mounted();
        if (mounted.isPresent() && Preflight.isDead(mountPoint)) {
            log.warn("The server of mount {} has ended; it is removed", key);
            mounted.get().detachOrFail();
            return Optional.empty();
        }
        return mounted;
    }

    /** Whether a pod sees it. */
    boolean isUsed() throws IOException {
        Optional<KernelMount> mounted = mounted();
        return mounted.isPresent()
                && MountTable.read().entries().stream()
                        .anyMatch(entry -> entry.device().equals(mounted.get().device())
                                && !entry.mountPoint().equals(mountPoint));
    }

    /** Mounts it, unless it is mounted, and renews its credentials. */
    KernelMount provide(Volume volume) throws IOException, InterruptedException, MountException, CallRefusal {
        Optional<KernelMount> alive = alive();
        if (alive.isEmpty()) {
            setup.makeFolder(folder);
        }
        for (Map.Entry<String, String> file : volume.identity().files().entrySet()) {
            write(folder.resolve(file.getKey()), file.getValue());
        }
        if (alive.isPresent()) {
            return alive.get();
        }
        log.info(
                "Mounting {} with the credentials of {} as mount {}",
                volume.bucket(),
                volume.identity().name(),
                key);
        Files.createDirectories(mountPoint);
        Path cache = setup.cache().resolve(key);
        Path staging = setup.staging().resolve(key);
        setup.makeFolder(cache);
        setup.makeFolder(staging);
        List<String> command = new ArrayList<>(List.of(
                setup.penstock().toString(),
                "mount",
                volume.bucket(),
                mountPoint.toString(),
                Settings.CACHE_DIR.optionName(),
                cache.toString(),
                WriteSettings.STAGING.optionName(),
                staging.toString(),
                Settings.ALLOW_OTHER.optionName(),
                "-o",
                String.join(",", volume.options())));
        Command done = Command.run(command, environment(volume), MOUNT_LIMIT);
        if (!done.succeeded()) {
            throw refusal(volume, done);
        }
        log.info("Mount {}: {}", key, done.output());
        return mounted()
                .orElseThrow(() -> new CallRefusal(
                        Status.Code.INTERNAL,
                        "penstock mount reported success, but " + mountPoint + " is not mounted"));
    }

    private Map<String, String> environment(Volume volume) {
        Map<String, String> environment = new HashMap<>(System.getenv());
        if (!(volume.identity() instanceof Identity.OfDriver)) {
            environment
                    .keySet()
                    .removeIf(
                            name -> name.matches(
                                    "AWS_(ACCESS|SECRET|SESSION|SECURITY|PROFILE|DEFAULT_PROFILE|ROLE|WEB_IDENTITY|CONTAINER).*"));
        }
        environment.putAll(volume.identity().environment(folder + "/"));
        if (setup.server().isPresent()) { // the supervisor mounts, and removes these
            environment.put("PENSTOCK_SOURCE", volume.bucket());
            environment.put("PENSTOCK_MOUNT_POINT", mountPoint.toString());
            environment.put(
                    "PENSTOCK_MOUNT_FLAGS",
                    Integer.toString(
                            ALWAYS | (volume.isMountReadOnly() ? READ_ONLY : 0) | (volume.noExec() ? NO_EXEC : 0)));
        }
        return environment;
    }

    /** Replaces the file as a whole, if its content differs: a server may be reading it. */
    private void write(Path file, String content) throws IOException {
        try {
            if (Files.readString(file).equals(content)) {
                return;
            }
        } catch (NoSuchFileException e) {
            // The first time.
        }
        Path next = Path.of(file + ".next");
        Files.deleteIfExists(next);
        Files.createFile(next, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(next, content, StandardOpenOption.WRITE);
        setup.give(next);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private CallRefusal refusal(Volume volume, Command done) {
        String why = Secrets.hiddenInInput(done.output().replaceAll("(?m)^penstock: ", ""));
        if (done.status() == null) {
            return new CallRefusal(
                    Status.Code.DEADLINE_EXCEEDED,
                    volume.bucket() + " could not be mounted within " + MOUNT_LIMIT.toSeconds() + " s. " + why);
        }
        return new CallRefusal(
                Failures.code(why), why.isEmpty() ? "penstock mount ended with status " + done.status() : why);
    }

    /** Unmounts it, and waits for its uploads, unless a pod uses it. */
    void endUnused() throws IOException, InterruptedException, MountException {
        if (isUsed()) {
            return;
        }
        if (alive().isPresent()) {
            log.info("No pod uses mount {} any more; it ends", key);
            Command done = Command.run(
                    List.of(setup.penstock().toString(), "umount", mountPoint.toString()),
                    System.getenv(),
                    UNMOUNT_LIMIT);
            log.info("Mount {}: {}", key, done.output());
        }
        if (mounted().isEmpty() && Files.exists(folder)) {
            Folders.delete(folder); // its cache and written data are elsewhere
        }
    }
}
