package io.penstock.fuse.kernel;

import io.penstock.core.ErrnoException;
import io.penstock.filesystem.FileSystem;
import io.penstock.filesystem.kernel.BackingFiles;
import io.penstock.fuse.KernelMount;
import io.penstock.fuse.MountException;
import io.penstock.fuse.Supervisor;
import io.penstock.fuse.kernel.Layouts.NotifyResend;
import io.penstock.fuse.table.KernelTable;
import io.penstock.fuse.table.TableState;
import io.penstock.fuse.table.Terms;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a mount survives its process: docs/adr/0042-a-mount-outlives-its-process.md.
 *
 * <pre>
 *   first process:  INIT ──▶ creates the table ──▶ the supervisor keeps the device ──▶ serves
 *   its successor:  reads the table ──▶ the file system inherits it ──▶ requests are sent again ──▶ serves
 * </pre>
 */
sealed interface Survival {
    Logger LOG = LoggerFactory.getLogger(Survival.class);

    /** For people: part of the mount's description. */
    String description();

    /** The same operations, for a mount that survives: what the kernel gets by them is recorded. */
    Operations of(Operations operations, FileSystem fileSystem, BackingFiles kernel) throws MountException;

    /** For notices to the device that may have to wait. */
    default NoticeWriter notices(Device device) {
        return new NoticeWriter.Direct(device);
    }

    /** The session is about to read requests. */
    default void begins(Device device) {}

    /** The mount has ended. */
    default void ends() {}

    /**
     * A mount that ends with its process.
     *
     * @param reason why, for people; empty if it is not to survive
     */
    record None(String reason) implements Survival {
        @Override
        public String description() {
            return reason.isEmpty() ? "" : ", ends with its process" + reason;
        }

        @Override
        public Operations of(Operations operations, FileSystem fileSystem, BackingFiles kernel) {
            return operations;
        }
    }

    /** A mount that its supervisor keeps. */
    final class Kept implements Survival {
        private final Supervisor supervisor;
        private final KernelTable table;
        private final long mount;
        private final boolean isSuccessor;

        /** What a former process has left, until it is inherited; null for a new mount. */
        private @Nullable TableState left;

        /**
         * @param mount the random number in the table
         * @param left what a former process has left; null for a new mount
         */
        Kept(Supervisor supervisor, KernelTable table, long mount, @Nullable TableState left) {
            this.supervisor = supervisor;
            this.table = table;
            this.mount = mount;
            this.isSuccessor = left != null;
            this.left = left;
        }

        @Override
        public String description() {
            int restarts = supervisor.restarts();
            return ", survives its process"
                    + (restarts == 0
                            ? ""
                            : " (restarts: " + restarts + ", the last after " + supervisor.lastEnd() + ")");
        }

        @Override
        public Operations of(Operations operations, FileSystem fileSystem, BackingFiles kernel) throws MountException {
            TableState inherited = left;
            left = null; // it is large
            if (inherited == null) {
                return new RecordedOperations(
                        operations, fileSystem, table, mount, Map.of(), new Attempts(Map.of(), true, table::tried));
            }
            try {
                fileSystem.inherit(inherited.inherited(), kernel);
            } catch (ErrnoException e) {
                throw new MountException("What the former process has left contradicts itself: " + e.getMessage(), e);
            }
            Attempts attempts = new Attempts(inherited.tries(), !supervisor.isUpgrade(), table::tried);
            return new RecordedOperations(operations, fileSystem, table, mount, inherited.effects(), attempts);
        }

        @Override
        public NoticeWriter notices(Device device) {
            OptionalInt socket = supervisor.notices();
            return socket.isEmpty()
                    ? new NoticeWriter.Direct(device)
                    : new NoticeWriter.Relayed(socket.getAsInt(), device);
        }

        @Override
        public void begins(Device device) {
            if (isSuccessor) {
                Reply notice = new Reply(0);
                int length = notice.sealNotice(NotifyResend.CODE, 0);
                int error = device.write(notice.address(), length);
                if (error != 0) {
                    LOG.error("The kernel does not send its requests again: error number {}", -error);
                }
            }
        }

        @Override
        public void ends() {
            table.close();
            supervisor.stopping();
        }
    }

    /** The session begins with INIT, or continues that of a former process. */
    @FunctionalInterface
    interface Start {
        /** Of a mount that ends with its process. */
        Start ALONE = (device, kernel, handshake) -> new Begun(handshake.agree(false), new None(""));

        Begun begin(Device device, KernelMount kernel, Handshake handshake) throws MountException;
    }

    /** A session after its start. */
    record Begun(NegotiatedInit negotiated, Survival survival) {}

    /**
     * The start of this process's mount.
     *
     * @param tables the folder for tables; null if the mount is not to survive
     * @param memory of written files, as in {@link KernelBinding#mount}
     */
    static Start start(Supervisor supervisor, @Nullable Path tables, @Nullable Integer memory) {
        if (tables == null) {
            return Start.ALONE;
        } else if (!supervisor.isThere()) {
            return (_, _, handshake) -> new Begun(handshake.agree(false), new None(": it has no supervisor"));
        }
        return supervisor.inheritedDevice().isEmpty()
                ? (device, kernel, handshake) -> begin(supervisor, tables, memory, device, kernel, handshake)
                : (_, kernel, _) -> resume(supervisor, KernelTable.file(tables, kernel.device()), kernel);
    }

    /** Reads a table to which another process writes. Its next part may be in the making, so it is tried twice. */
    static void check(Path file) throws MountException {
        for (int attempt = 1; ; attempt++) {
            try {
                var _ = TableState.read(file);
                return;
            } catch (IOException e) {
                if (attempt == 2) {
                    throw new MountException("The mount cannot be continued: " + e.getMessage(), e);
                }
            }
        }
    }

    private static Begun begin(
            Supervisor supervisor,
            Path tables,
            @Nullable Integer memory,
            Device device,
            KernelMount kernel,
            Handshake handshake)
            throws MountException {
        NegotiatedInit negotiated = handshake.agree(true);
        if (!negotiated.resends()) {
            return new Begun(negotiated, new None(": Linux 6.9 or newer is needed to keep it"));
        }
        Terms terms = new Terms(
                negotiated.minor(), negotiated.maxRequest(), negotiated.flags(), new SecureRandom().nextLong());
        Path file = KernelTable.file(tables, kernel.device());
        try {
            KernelTable table = KernelTable.create(file, terms, supervisor::release);
            if (memory != null) {
                supervisor.keepMemory(memory);
            }
            supervisor.keep(device.fd(), kernel);
            return new Begun(negotiated, new Kept(supervisor, table, terms.mount(), null));
        } catch (IOException e) {
            return new Begun(negotiated, new None(": " + file + ": " + e.getMessage()));
        }
    }

    private static Begun resume(Supervisor supervisor, Path file, KernelMount kernel) throws MountException {
        try {
            TableState left = TableState.read(file);
            Terms terms = left.terms();
            return new Begun(
                    new NegotiatedInit(terms.minor(), terms.maxRequest(), terms.flags()),
                    new Kept(supervisor, KernelTable.resume(file, left, supervisor::release), terms.mount(), left));
        } catch (IOException e) {
            KernelTable.remove(file);
            throw new MountException(
                    kernel.mountPoint() + " cannot be continued after the end of its process, and is unmounted: "
                            + e.getMessage() + ". Mount it again.",
                    e);
        }
    }
}
