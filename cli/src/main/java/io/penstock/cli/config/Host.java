package io.penstock.cli.config;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * What defaults depend on: the machine, and who runs Penstock.
 *
 * @param environment the environment variables
 * @param home the user's home folder
 * @param uid the user's number
 * @param gid the number of the user's group
 * @param memoryBytes the machine's memory, or what the process's cgroup may have of it
 * @param processors the machine's, or what the process's cgroup may have of them
 */
public record Host(Map<String, String> environment, Path home, int uid, int gid, long memoryBytes, int processors) {
    /** This machine and this process's user. */
    public static Host current() {
        return Current.HOST;
    }

    public boolean isRoot() {
        return uid == 0;
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

    /** The folder for logs. */
    public Path logFolder() {
        return isRoot() ? Path.of("/var/log/penstock") : xdg("XDG_STATE_HOME", ".local/state");
    }

    /** The folder for what describes running processes. */
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
                        Math.min(memoryOfMachine(), memoryOfCgroup()),
                        Runtime.getRuntime().availableProcessors());
            } catch (IOException e) {
                throw new UncheckedIOException("cannot read /proc: " + e.getMessage(), e);
            }
        }

        private static long memoryOfMachine() throws IOException {
            return Files.readAllLines(Path.of("/proc/meminfo")).stream()
                    .filter(line -> line.startsWith("MemTotal:"))
                    .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", "")))
                    .findFirst()
                    .orElseThrow(() -> new IOException("no MemTotal in /proc/meminfo"));
        }

        /** cgroup v2, as a container sees its own; without a bound the file is missing or says {@code max}. */
        private static long memoryOfCgroup() throws IOException {
            Path limit = Path.of("/sys/fs/cgroup/memory.max");
            String text = Files.isReadable(limit) ? Files.readString(limit).strip() : "max";
            return text.equals("max") ? Long.MAX_VALUE : Long.parseLong(text);
        }
    }
}
