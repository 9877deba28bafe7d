package io.penstock.cli.config;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;

/**
 * What defaults depend on: the machine, and who runs Penstock.
 *
 * @param environment the environment variables
 * @param home the user's home folder
 * @param uid the user's number
 * @param gid the number of the user's group
 * @param memoryBytes the machine's memory, or the smallest limit of the process's cgroup and of those above it
 * @param processors the machine's, or what the process's cgroup may have of them
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
     * One of so many parts of the memory, in whole MiB.
     *
     * @param least,most bounds of the share: bytes
     */
    long shareOfMemory(int parts, long least, long most) {
        return Math.clamp(memoryBytes / parts / MIB * MIB, least, most);
    }

    /** Absolute, with {@code ~/} expanded. */
    public Path path(String text) {
        Path path = text.startsWith("~/") ? home.resolve(text.substring(2)) : Path.of(text);
        return path.toAbsolutePath().normalize();
    }

    /** The folder for caches: what is in it may be deleted at any time. */
    public Path cacheFolder() {
        return isRoot() ? Path.of("/var/cache/penstock") : xdg("XDG_CACHE_HOME", ".cache");
    }

    /** Whether it lies where the Filesystem Hierarchy Standard and XDG say that anything may be removed. */
    boolean isForCaches(Path path) {
        return path.startsWith("/var/cache")
                || path.startsWith(home.resolve(".cache"))
                || path.startsWith(
                        Objects.requireNonNull(xdg("XDG_CACHE_HOME", ".cache").getParent()));
    }

    /** The folder for data that has to survive. */
    Path stateFolder() {
        return isRoot() ? Path.of("/var/lib/penstock") : xdg("XDG_STATE_HOME", ".local/state");
    }

    /** The folder for logs. */
    public Path logFolder() {
        return isRoot() ? Path.of("/var/log/penstock") : xdg("XDG_STATE_HOME", ".local/state");
    }

    /**
     * The folder for what describes running processes. Local to the machine: a home folder may be shared by many. The
     * name below /tmp can be guessed, so its users look at its owner and mode before they use it.
     */
    public Path runtimeFolder() {
        if (isRoot()) {
            return Path.of("/run/penstock");
        }
        String runtime = environment.getOrDefault("XDG_RUNTIME_DIR", "");
        return runtime.isEmpty() ? Path.of("/tmp/penstock-" + uid) : Path.of(runtime, "penstock");
    }

    /** The XDG base directory specification: the variable, or else this folder of the home folder. */
    Path xdg(String variable, String inHome) {
        String folder = environment.getOrDefault(variable, "");
        return (folder.isEmpty() ? home.resolve(inHome) : Path.of(folder)).resolve("penstock");
    }

    private static final class Current {
        static final Host HOST = read();

        private static Host read() {
            try {
                // The JDK tells the user's name only; /proc/self belongs to the process's user.
                Path self = Path.of("/proc/self");
                return new Host(
                        System.getenv(),
                        Path.of(System.getProperty("user.home")),
                        (int) Files.getAttribute(self, "unix:uid"),
                        (int) Files.getAttribute(self, "unix:gid"),
                        memory(),
                        Runtime.getRuntime().availableProcessors());
            } catch (IOException e) {
                throw new UncheckedIOException("cannot read /proc: " + e.getMessage(), e);
            }
        }

        /** The launcher has looked at all cgroups above this process; else the JVM is asked, which does the same. */
        private static long memory() {
            Long told = Long.getLong("penstock.memory");
            return told != null
                    ? told
                    : ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize();
        }
    }
}
