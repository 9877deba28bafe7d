package io.penstock.csi;

import com.google.common.util.concurrent.Striped;
import io.grpc.Status;
import io.penstock.fuse.BindMount;
import io.penstock.fuse.KernelMount;
import io.penstock.fuse.MountException;
import io.penstock.fuse.MountTable;
import io.penstock.fuse.Preflight;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The mounts of this node, and the targets at which pods see them. Nothing is counted and no list is stored: the mount
 * table says which targets use which mount, after a restart of the driver too.
 *
 * <p>Thread-safe: a call has the lock of its target, and then that of a key. A mount that ends has that of its key, so a
 * volume that needs it again waits for the end, and mounts again.
 */
final class NodeMounts {
    private static final Logger log = LoggerFactory.getLogger(NodeMounts.class);

    /** Less than kubelet's two minutes, with the time of a mount. */
    private static final Duration PATIENCE = Duration.ofSeconds(25);

    private static final int LOCKS = 1 << 16;

    private final Setup setup;
    private final Path folder;
    private final Striped<Lock> targets = Striped.lazyWeakLock(LOCKS);
    private final Striped<Lock> keys = Striped.lazyWeakLock(LOCKS);

    NodeMounts(Setup setup) {
        this.setup = setup;
        this.folder = setup.state().resolve("mounts");
    }

    /** A lock that is held until the end of a block. */
    private record Held(Lock lock) implements AutoCloseable {
        static Held take(Lock lock, String what) throws CallRefusal, InterruptedException {
            if (!lock.tryLock(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new CallRefusal(Status.Code.ABORTED, what);
            }
            return new Held(lock);
        }

        @Override
        public void close() {
            lock.unlock();
        }
    }

    /** Shows the volume at its target. Does nothing if it is shown there, except that credentials are renewed. */
    void publish(Volume volume) throws IOException, InterruptedException, MountException, CallRefusal {
        Path target = volume.path();
        String key = volume.key();
        try (Held _ = Held.take(targets.get(target), "another call for " + target + " is in progress");
                Held _ = Held.take(
                        keys.get(key),
                        "an earlier mount of " + volume.bucket() + " has not ended yet: it may have files to upload")) {
            SharedMount shared = new SharedMount(setup, folder, key);
            String before = shared.alive().map(KernelMount::device).orElse("");
            if (isTaken(target, before)) {
                throw new CallRefusal(
                        Status.Code.ALREADY_EXISTS, target + " has another volume; it must be unpublished first");
            }
            boolean isShown = MountTable.read().at(target).isPresent();
            KernelMount mount;
            try {
                mount = shared.provide(volume);
                if (!isShown) {
                    Files.createDirectories(target);
                    BindMount.bind(mount, target, volume.readOnly(), volume.noExec());
                    log.info("{} is at {}, by mount {}", volume.bucket(), target, key);
                }
            } catch (IOException | MountException | CallRefusal e) {
                shared.endUnused();
                throw e;
            }
        }
    }

    /** Whether another volume is at this target. One whose server has ended is removed. */
    private static boolean isTaken(Path target, String device) throws IOException, MountException {
        Optional<MountTable.Entry> there = MountTable.read().at(target);
        if (there.isEmpty() || there.get().device().equals(device)) {
            return false;
        } else if (!there.get().isPenstock() || !Preflight.isDead(target)) {
            return true;
        }
        new KernelMount(target, there.get().device()).detachOrFail();
        return false;
    }

    /** Removes the target. Its mount ends in the background if no other pod uses it: that may take uploads. */
    void unpublish(Path target) throws IOException, InterruptedException, MountException, CallRefusal {
        try (Held _ = Held.take(targets.get(target), "another call for " + target + " is in progress")) {
            Optional<MountTable.Entry> there = MountTable.read().at(target);
            if (there.isPresent()) {
                if (!there.get().isPenstock()) {
                    throw new CallRefusal(
                            Status.Code.FAILED_PRECONDITION,
                            target + " has a mount that is not Penstock's: "
                                    + there.get().source());
                }
                new KernelMount(target, there.get().device()).detachOrFail();
                log.info("{} is removed", target);
            }
            try {
                Files.deleteIfExists(target);
            } catch (DirectoryNotEmptyException e) {
                throw new CallRefusal(
                        Status.Code.FAILED_PRECONDITION,
                        target + " is not mounted, but has files, and is left as it is");
            }
        }
        endUnused();
    }

    /** What is at the target; empty if it is no mount. */
    Optional<MountTable.Entry> at(Path target) throws IOException {
        return MountTable.read().at(target);
    }

    /** Ends all mounts without users, those of an earlier driver too. Returns at once. */
    void endUnused() throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        List<String> all;
        try (Stream<Path> folders = Files.list(folder)) {
            all = folders.map(each -> each.getFileName().toString()).toList();
        }
        for (String key : all) {
            SharedMount shared = new SharedMount(setup, folder, key);
            if (!shared.isUsed()) {
                Thread.startVirtualThread(() -> end(key, shared));
            }
        }
    }

    private void end(String key, SharedMount shared) {
        Lock lock = keys.get(key);
        lock.lock();
        try {
            shared.endUnused();
        } catch (IOException | MountException e) {
            log.warn("Mount {} cannot be ended: {}", key, e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // nobody does that
        } finally {
            lock.unlock();
        }
    }
}
