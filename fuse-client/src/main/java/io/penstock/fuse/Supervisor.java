package io.penstock.fuse;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The process that keeps this mount's device open and starts a successor when this process dies: systemd, or
 * penstock-supervisor. Both speak sd_notify(3) with FDSTORE, and pass on descriptors as in sd_listen_fds(3). Thread-safe.
 */
public final class Supervisor {
    private static final Logger log = LoggerFactory.getLogger(Supervisor.class);

    /** The name of the stored device. */
    private static final String DEVICE = "penstock-device";

    /** SD_LISTEN_FDS_START of sd-daemon.h. */
    private static final int FIRST = 3;

    // struct sockaddr_un, msghdr and cmsghdr of 64-bit Linux: byte offsets; unix(7), sendmsg(2), cmsg(3).
    private static final int SUN_PATH = 2;
    private static final int SUN_SIZE = 110;
    private static final int MSG_NAME = 0;
    private static final int MSG_NAMELEN = 8;
    private static final int MSG_IOV = 16;
    private static final int MSG_IOVLEN = 24;
    private static final int MSG_CONTROL = 32;
    private static final int MSG_CONTROLLEN = 40;
    private static final int MSGHDR_SIZE = 56;
    private static final int CMSG_LEN = 0;
    private static final int CMSG_LEVEL = 8;
    private static final int CMSG_TYPE = 12;
    private static final int CMSG_DATA = 16;
    private static final int CMSG_SIZE = 24;
    private static final int SOL_SOCKET = 1;
    private static final int SCM_RIGHTS = 1;

    private final Map<String, String> environment;
    private final long pid;

    /** @param environment of this process */
    Supervisor(Map<String, String> environment, long pid) {
        this.environment = environment;
        this.pid = pid;
    }

    /** This process's. */
    public static Supervisor current() {
        return new Supervisor(System.getenv(), ProcessHandle.current().pid());
    }

    /** Whether there is one. */
    public boolean isThere() {
        return environment.containsKey("NOTIFY_SOCKET");
    }

    /** The device of a mount whose process has ended; this process is its successor. */
    public Optional<Path> inheritedDevice() {
        if (!Long.toString(pid).equals(environment.get("LISTEN_PID"))) {
            return Optional.empty(); // the variables are meant for a parent
        }
        int index = List.of(environment.getOrDefault("LISTEN_FDNAMES", "").split(":", -1))
                .indexOf(DEVICE);
        return index < 0 ? Optional.empty() : Optional.of(Path.of("/dev/fd", Integer.toString(FIRST + index)));
    }

    /** How often processes of this mount have died; 0 if that is not known. */
    public int restarts() {
        try {
            return Integer.parseInt(environment.getOrDefault("PENSTOCK_RESTARTS", "0"));
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    /** How the last of them died, such as {@code signal 9}; empty if that is not known. */
    public String lastEnd() {
        return environment.getOrDefault("PENSTOCK_LAST_END", "");
    }

    /**
     * Hands over the device. From now on, a successor is started if this process dies.
     *
     * @param mountPoint to be unmounted if no successor can serve it
     */
    public void keep(int device, Path mountPoint) {
        String path = mountPoint.toString();
        send("FDSTORE=1\nFDNAME=" + DEVICE + (path.contains("\n") ? "" : "\nX_PENSTOCK_MOUNT_POINT=" + path), device);
    }

    /** The mount no longer survives this process. */
    public void release() {
        send("FDSTOREREMOVE=1\nFDNAME=" + DEVICE, -1);
    }

    /** The mount can be used. */
    public void ready() {
        send("READY=1", -1);
    }

    /** This process is about to end because it was told to, or the mount has ended. It needs no successor. */
    public void stopping() {
        send("STOPPING=1\nFDSTOREREMOVE=1\nFDNAME=" + DEVICE, -1);
    }

    /**
     * From now on shows the supervisor, as often as it expects that, that this process runs: not while it is stopped, or
     * without a processor for long.
     */
    public void watch() {
        String micros = environment.getOrDefault("WATCHDOG_USEC", "");
        if (micros.isEmpty()
                || !Long.toString(pid).equals(environment.getOrDefault("WATCHDOG_PID", Long.toString(pid)))) {
            return;
        }
        Duration pause = Duration.of(Long.parseLong(micros) / 2, ChronoUnit.MICROS);
        Thread.ofPlatform().daemon().name("watchdog").start(() -> {
            try {
                while (true) {
                    send("WATCHDOG=1", -1);
                    Thread.sleep(pause);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // nobody does that
            }
        });
    }

    /** @param descriptor to pass on; -1 for none */
    private void send(String message, int descriptor) {
        String address = environment.get("NOTIFY_SOCKET");
        if (address == null) {
            return;
        }
        int socket = Native.C.socket(Native.AF_UNIX, Native.SOCK_DGRAM | Native.SOCK_CLOEXEC, 0);
        if (socket < 0) {
            log.warn("The supervisor is not told {}: error number {}", message, Native.error());
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            if (Native.C.sendmsg(
                            socket, message(arena, address, message, descriptor).address(), 0)
                    < 0) {
                log.warn("The supervisor at {} is not told {}: error number {}", address, message, Native.error());
            }
        } finally {
            Native.C.close(socket);
        }
    }

    private static MemorySegment message(Arena arena, String address, String text, int descriptor) {
        byte[] path = address.getBytes(UTF_8);
        MemorySegment name = arena.allocate(SUN_SIZE, Long.BYTES);
        name.set(JAVA_SHORT, 0, (short) Native.AF_UNIX);
        MemorySegment.copy(path, 0, name, JAVA_BYTE, SUN_PATH, path.length);
        if (address.startsWith("@")) {
            name.set(JAVA_BYTE, SUN_PATH, (byte) 0); // an abstract name
        }
        byte[] bytes = text.getBytes(UTF_8);
        MemorySegment vector = arena.allocate(JAVA_LONG, 2);
        vector.setAtIndex(JAVA_LONG, 0, arena.allocateFrom(JAVA_BYTE, bytes).address());
        vector.setAtIndex(JAVA_LONG, 1, bytes.length);
        MemorySegment message = arena.allocate(MSGHDR_SIZE, Long.BYTES);
        message.set(JAVA_LONG, MSG_NAME, name.address());
        message.set(JAVA_INT, MSG_NAMELEN, SUN_PATH + path.length);
        message.set(JAVA_LONG, MSG_IOV, vector.address());
        message.set(JAVA_LONG, MSG_IOVLEN, 1);
        if (descriptor >= 0) {
            MemorySegment control = arena.allocate(CMSG_SIZE, Long.BYTES);
            control.set(JAVA_LONG, CMSG_LEN, CMSG_DATA + Integer.BYTES);
            control.set(JAVA_INT, CMSG_LEVEL, SOL_SOCKET);
            control.set(JAVA_INT, CMSG_TYPE, SCM_RIGHTS);
            control.set(JAVA_INT, CMSG_DATA, descriptor);
            message.set(JAVA_LONG, MSG_CONTROL, control.address());
            message.set(JAVA_LONG, MSG_CONTROLLEN, CMSG_SIZE);
        }
        return message;
    }
}
