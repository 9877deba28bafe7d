package io.penstock.fuse;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
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
import java.util.OptionalInt;
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

    /** The name of the stored memory. */
    private static final String MEMORY = "penstock-written";

    /** SD_LISTEN_FDS_START of sd-daemon.h. */
    private static final int FIRST = 3;

    // struct sockaddr_un: byte offsets; unix(7).
    private static final int SUN_PATH = 2;
    private static final int SUN_SIZE = 110;

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

    /**
     * Whether there is one: sd_notify(3) has $FDSTORE where files are stored. systemd sets it since version 254, and
     * older versions do not say whether they store any: there, as in services that are only to report that they are
     * ready, a mount ends with its process.
     */
    public boolean isThere() {
        return environment.containsKey("NOTIFY_SOCKET")
                && !environment.getOrDefault("FDSTORE", "0").equals("0");
    }

    /** The device of a mount whose process has ended; this process is its successor. */
    public Optional<Path> inheritedDevice() {
        OptionalInt device = inherited(DEVICE);
        return device.isEmpty()
                ? Optional.empty()
                : Optional.of(Path.of("/dev/fd", Integer.toString(device.getAsInt())));
    }

    /** The descriptor of the memory in which that process had written files. */
    public OptionalInt inheritedMemory() {
        return inherited(MEMORY);
    }

    private OptionalInt inherited(String name) {
        if (!Long.toString(pid).equals(environment.get("LISTEN_PID"))) {
            return OptionalInt.empty(); // the variables are meant for a parent
        }
        int index = List.of(environment.getOrDefault("LISTEN_FDNAMES", "").split(":", -1))
                .indexOf(name);
        return index < 0 ? OptionalInt.empty() : OptionalInt.of(FIRST + index);
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
     * @param mount to be unmounted if no successor can serve it
     */
    public void keep(int device, KernelMount mount) {
        String path = mount.mountPoint().toString();
        String where =
                path.contains("\n") ? "" : "\nX_PENSTOCK_MOUNT_POINT=" + path + "\nX_PENSTOCK_DEVICE=" + mount.device();
        send("FDSTORE=1\nFDNAME=" + DEVICE + where, device);
    }

    /** Hands over the memory of written files. Before the device: the mount needs both. */
    public void keepMemory(int memory) {
        send("FDSTORE=1\nFDNAME=" + MEMORY, memory);
    }

    /** The mount no longer survives this process. */
    public void release() {
        send("FDSTOREREMOVE=1\nFDNAME=" + DEVICE, -1);
        send("FDSTOREREMOVE=1\nFDNAME=" + MEMORY, -1);
    }

    /** The mount can be used. */
    public void ready() {
        send("READY=1", -1);
    }

    /** This process is about to end because it was told to, or the mount has ended. It needs no successor. */
    public void stopping() {
        send("FDSTOREREMOVE=1\nFDNAME=" + MEMORY, -1);
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
            if (!message(arena, address, message, descriptor).send(socket)) {
                log.warn("The supervisor at {} is not told {}: error number {}", address, message, Native.error());
            }
        } finally {
            Native.C.close(socket);
        }
    }

    private static DescriptorMessage message(Arena arena, String address, String text, int descriptor) {
        byte[] path = address.getBytes(UTF_8);
        MemorySegment name = arena.allocate(SUN_SIZE, Long.BYTES);
        name.set(JAVA_SHORT, 0, (short) Native.AF_UNIX);
        MemorySegment.copy(path, 0, name, JAVA_BYTE, SUN_PATH, path.length);
        if (address.startsWith("@")) {
            name.set(JAVA_BYTE, SUN_PATH, (byte) 0); // an abstract name
        }
        DescriptorMessage message = new DescriptorMessage(arena, text.getBytes(UTF_8));
        message.to(name, SUN_PATH + path.length);
        if (descriptor >= 0) {
            message.with(descriptor);
        }
        return message;
    }
}
