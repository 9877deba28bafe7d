package io.penstock.settings;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;

/**
 * The machine and the user that runs Penstock: defaults depend on them.
 *
 * @param environment the environment variables
 * @param home the user's home folder
 * @param uid the user's ID
 * @param gid the ID of the user's group
 * @param memoryBytes the machine's memory, or the smallest limit of the process's cgroup and its ancestors
 * @param processors the machine's processors, or those that the process's cgroup may use
 */
public record Host(Map<String, String> environment, Path home, int uid, int gid, long memoryBytes, int processors) {
    private static final long MIB = 1L << 20;

    /** This machine and this process's user. */
    public static Host current() {
        return Current.HOST;
    }

    public boolean isRoot() {
        return uid == 0;
    }

    /**
     * The user who serves root's mounts without its rights, as $PENSTOCK_USER (UID:GID) tells the supervisor; 0 for root.
     * Root's folders are that user's.
     */
    public int server() {
        String user = variable("PENSTOCK_USER", "0:0");
        return Integer.parseInt(user.substring(0, user.indexOf(':')));
    }

    private boolean hasFoldersOfRoot() {
        return isRoot() || uid == server();
    }

    /**
     * A fraction of the memory, in whole MiB. The minimum is 256 MiB, or an eighth of the memory if that is less, but
     * never below 64 MiB.
     *
     * @param parts the denominator
     * @param most the maximum in bytes
     */
    long shareOfMemory(int parts, long most) {
        long least = Math.clamp(memoryBytes / 8 / MIB * MIB, 64 * MIB, 256 * MIB);
        return Math.clamp(memoryBytes / parts / MIB * MIB, least, most);
    }

    /**
     * A number of concurrent requests for each processor, because a machine with more processors has a faster network.
     * At most one for each 64 MiB of memory; always within the bounds.
     */
    int forEachProcessor(int requests, int least, int most) {
        return Math.clamp(Math.min((long) requests * processors, memoryBytes / (64 * MIB)), least, most);
    }

    /** The absolute path, with {@code ~/} expanded. */
    public Path path(String text) {
        Path path = text.startsWith("~/") ? home.resolve(text.substring(2)) : Path.of(text);
        return path.toAbsolutePath().normalize();
    }

    /** The folder for caches: its contents may be deleted at any time. */
    public Path cacheFolder() {
        return hasFoldersOfRoot() ? Path.of("/var/cache/penstock") : xdg("XDG_CACHE_HOME", ".cache");
    }

    /** Whether the Filesystem Hierarchy Standard or XDG allows the contents of the path's folder to be removed. */
    boolean isForCaches(Path path) {
        return path.startsWith("/var/cache")
                || path.startsWith(home.resolve(".cache"))
                || path.startsWith(
                        Objects.requireNonNull(xdg("XDG_CACHE_HOME", ".cache").getParent()));
    }

    /** The folder for data that must survive. */
    Path stateFolder() {
        return hasFoldersOfRoot() ? Path.of("/var/lib/penstock") : xdg("XDG_STATE_HOME", ".local/state");
    }

    /** The folder for logs. */
    public Path logFolder() {
        return hasFoldersOfRoot() ? Path.of("/var/log/penstock") : xdg("XDG_STATE_HOME", ".local/state");
    }

    /**
     * The folder for descriptions of running processes. It is local to the machine, because many machines may share a
     * home folder. Other users can guess the name below /tmp, so owner and mode are checked before use.
     */
    public Path runtimeFolder() {
        if (hasFoldersOfRoot()) {
            return Path.of("/run/penstock");
        }
        String runtime = variable("XDG_RUNTIME_DIR", "");
        return runtime.isEmpty() ? Path.of("/tmp/penstock-" + uid) : Path.of(runtime, "penstock");
    }

    /** The environment variable, or the alternative if it is missing or empty. */
    String variable(String name, String otherwise) {
        String value = environment.getOrDefault(name, "");
        return value.isEmpty() ? otherwise : value;
    }

    /** Penstock's folder in the variable's folder, or else in this one below home: XDG Base Directory Specification. */
    Path xdg(String variable, String inHome) {
        String folder = variable(variable, "");
        return (folder.isEmpty() ? home.resolve(inHome) : Path.of(folder)).resolve("penstock");
    }

    /** $HOME, as in shells and the launcher; without it, the user's home folder in the user database. */
    static Path home(Map<String, String> environment, String ofUser) {
        String home = environment.getOrDefault("HOME", "");
        return Path.of(home.isEmpty() ? ofUser : home);
    }

    private static final class Current {
        static final Host HOST = read();

        private static Host read() {
            try {
                // The JDK knows only the user's name; /proc/self belongs to the process's user.
                Path self = Path.of("/proc/self");
                return new Host(
                        System.getenv(),
                        home(System.getenv(), System.getProperty("user.home")),
                        (int) Files.getAttribute(self, "unix:uid"),
                        (int) Files.getAttribute(self, "unix:gid"),
                        memory(),
                        Runtime.getRuntime().availableProcessors());
            } catch (IOException e) {
                throw new UncheckedIOException("cannot read /proc: " + e.getMessage(), e);
            }
        }

        /** The launcher has read the limits of all cgroups above this process; without it, the JVM does the same. */
        private static long memory() {
            Long told = Long.getLong("penstock.memory");
            return told != null
                    ? told
                    : ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize();
        }
    }
}
