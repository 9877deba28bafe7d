package io.penstock.serve.mount;

import io.penstock.fuse.DeadMount;
import io.penstock.fuse.InheritedDevice;
import io.penstock.fuse.MountException;
import io.penstock.fuse.MountTable;
import io.penstock.fuse.Supervisor;
import io.penstock.serve.state.RunningMount;
import io.penstock.settings.Host;
import io.penstock.writeback.survivors.Outliving;
import io.penstock.writeback.survivors.SurvivorMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What serving processes that have ended leave behind. */
final class EarlierProcesses {
    private static final Logger log = LoggerFactory.getLogger(EarlierProcesses.class);

    private EarlierProcesses() {}

    /**
     * Removes a dead mount at the mount point, unless this process continues it, and the state of killed mounts, also
     * of those with failed uploads that no penstock umount has waited for.
     */
    static void forget(Supervisor supervisor, Path mountPoint) throws MountException {
        Optional<Path> device = supervisor.inheritedDevice();
        if (supervisor.mountedDevice().isPresent()) {
            forget(InheritedDevice.resolve(supervisor.mountedDevice().get()));
        } else if (device.isEmpty()) {
            DeadMount.remove(mountPoint).ifPresent(found -> {
                log.warn("{}", found);
                System.out.println(found);
            });
            forget(null);
        } else {
            log.warn(
                    "The former process of {} has ended ({}); this one continues its mount",
                    mountPoint,
                    supervisor.lastEnd());
            forget(InheritedDevice.resolve(device.get()));
        }
    }

    /** @param continued where this process continues a mount: its former process has a state too; null for none */
    private static void forget(@Nullable Path continued) {
        try {
            List<MountTable.Entry> others = MountTable.read().entries().stream()
                    .filter(entry -> !entry.mountPoint().equals(continued))
                    .toList();
            RunningMount.forgetEnded(Host.current(), others);
        } catch (IOException e) {
            log.debug("Cannot remove the state files of ended processes", e);
        }
    }

    /**
     * What written files need to outlive this process. Null without a supervisor, or if the process that this one
     * succeeds had nothing of the kind.
     */
    static @Nullable Outliving outliving() throws IOException {
        Supervisor supervisor = Supervisor.current();
        if (!supervisor.isThere()) {
            return null;
        } else if (supervisor.inheritedDevice().isEmpty()) {
            return Outliving.begin(SurvivorMemory.create(), supervisor::release);
        }
        OptionalInt left = supervisor.inheritedMemory();
        return left.isEmpty() ? null : Outliving.resume(SurvivorMemory.of(left.getAsInt()), supervisor::release);
    }
}
