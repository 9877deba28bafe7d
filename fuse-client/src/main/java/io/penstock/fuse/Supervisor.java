package io.penstock.fuse;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.LongToIntFunction;
import org.jspecify.annotations.Nullable;
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

    /** The name of a device that the supervisor has mounted for the first process. */
    private static final String MOUNTED = "penstock-mounted";

    /** The name of the stored memory. */
    private static final String MEMORY = "penstock-written";

    /** The variable with the descriptor of a standby's pipe. */
    private static final String STANDBY = "PENSTOCK_STANDBY";

    /** SD_LISTEN_FDS_START of sd-daemon.h. */
    private static final int FIRST = 3;

    // struct sockaddr_un: byte offsets; unix(7).
    private static final int SUN_PATH = 2;
    private static final int SUN_SIZE = 110;

    private static final Supervisor CURRENT =
            new Supervisor(System.getenv(), ProcessHandle.current().pid());

    private final Map<String, String> environment;
    private final long pid;

    /** The death for which this process has waited; null if it did not wait, or still does. */
    private volatile @Nullable Death awaited;

    /**
     * The end of the former process.
     *
     * @param millis its time, on the clock of {@link System#nanoTime}
     * @param how such as {@code signal 9}
     */
    private record Death(long millis, String how) {}

    /** @param environment of this process */
    Supervisor(Map<String, String> environment, long pid) {
        this.environment = environment;
        this.pid = pid;
    }

    /** This process's. */
    public static Supervisor current() {
        return CURRENT;
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
        return device(DEVICE);
    }

    /** The device of a new mount: the supervisor has mounted it, because this process may not. */
    public Optional<Path> mountedDevice() {
        return device(MOUNTED);
    }

    private Optional<Path> device(String name) {
        OptionalInt device = inherited(name);
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
        Death death = awaited;
        return death == null ? environment.getOrDefault("PENSTOCK_LAST_END", "") : death.how;
    }

    /** Whether the former process was replaced by this one, and did not die. */
    public boolean isUpgrade() {
        return lastEnd().equals("upgrade"); // penstock-supervisor.c
    }

    /** The time since the former process died, if this one was its standby. */
    public Optional<Duration> sinceDeath() {
        Death death = awaited;
        return death == null
                ? Optional.empty()
                : Optional.of(Duration.ofMillis(TimeUnit.NANOSECONDS.toMillis(System.nanoTime()) - death.millis));
    }

    /** Whether another process serves the mount, and this one is to continue when that has died. */
    public boolean isStandby() {
        return environment.containsKey(STANDBY) && awaited == null;
    }

    /**
     * Reports that this process, a standby, is warm, and waits for the end of the one that serves the mount.
     *
     * @return false if this process is not needed and should end
     */
    public boolean awaitDeath() throws IOException {
        send("X_PENSTOCK_WARM=1", -1);
        try (BufferedReader reader = pipe(Integer.parseInt(requireNonNull(environment.get(STANDBY))))) {
            String line = reader.readLine();
            if (line == null) {
                return false;
            }
            String[] words = line.split(" ", 2);
            awaited = new Death(Long.parseLong(words[0]), words[1]);
            return true;
        }
    }

    /**
     * Asks for a process of the installed version, which replaces this one once it is warm: this process is killed then.
     *
     * @return what the other process and the supervisor say; it ends when the upgrade has failed
     */
    public Reader upgrade() throws IOException {
        return pipe(sendEnd("X_PENSTOCK_UPGRADE=1", ends -> Native.C.pipe2(ends, Native.O_CLOEXEC)));
    }

    /**
     * Asks for a child of the supervisor that writes notices to the {@linkplain #keep stored} device: a write that waits
     * for another request keeps this process from dying.
     *
     * @return a socket: the response to each message is 0, or an error number. Its end says that there is no such child.
     *     Empty without a socket
     */
    public OptionalInt notices() {
        int type = Native.SOCK_SEQPACKET | Native.SOCK_CLOEXEC;
        try {
            return OptionalInt.of(
                    sendEnd("X_PENSTOCK_NOTICES=1", ends -> Native.C.socketpair(Native.AF_UNIX, type, 0, ends)));
        } catch (IOException e) {
            log.warn("Notices to the kernel are written by this process: {}", e.getMessage());
            return OptionalInt.empty();
        }
    }

    /**
     * Sends the second of two connected descriptors.
     *
     * @param pair writes both to an address, and returns 0
     * @return the first
     */
    private int sendEnd(String message, LongToIntFunction pair) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment ends = arena.allocate(JAVA_INT, 2);
            if (pair.applyAsInt(ends.address()) != 0) {
                throw new IOException("no descriptors: error number " + Native.error());
            }
            int theirs = ends.getAtIndex(JAVA_INT, 1);
            send(message, theirs);
            Native.C.close(theirs);
            return ends.getAtIndex(JAVA_INT, 0);
        }
    }

    private static BufferedReader pipe(int descriptor) throws IOException {
        try {
            return Files.newBufferedReader(Path.of("/dev/fd", Integer.toString(descriptor)), ISO_8859_1);
        } finally {
            Native.C.close(descriptor);
        }
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

    /**
     * The mount can be used.
     *
     * @param standby whether a standby is to wait for the end of this process
     */
    public void ready(boolean standby) {
        send("READY=1\nX_PENSTOCK_STANDBY=" + (standby ? 1 : 0), -1);
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
