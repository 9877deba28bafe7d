package io.penstock.tools.doctor;

import io.penstock.fuse.Preflight;
import io.penstock.settings.Host;
import io.penstock.settings.process.Launcher;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** This machine: its facts, and whether mounts start fast on it. */
final class Machine {
    /**
     * The machine, and the rights of this process on it.
     *
     * @param root whether this process runs as root
     * @param device the state of /dev/fuse
     * @param mayMount whether this process has CAP_SYS_ADMIN
     * @param hasFusermount whether fusermount3 or fusermount is installed
     * @param userAllowOther whether /etc/fuse.conf has user_allow_other
     * @param kernel the kernel's version
     * @param limits those of the examined process
     * @param memoryBytes the machine's memory, or the smallest limit of the process's cgroups
     * @param heapBytes the maximum heap of a mount's JVM
     * @param aotCache the state of the file that makes mounts start faster
     */
    record Facts(
            boolean root,
            Device device,
            boolean mayMount,
            boolean hasFusermount,
            boolean userAllowOther,
            Kernel kernel,
            Limits limits,
            long memoryBytes,
            long heapBytes,
            AotCache aotCache) {}

    /** The outcome of opening /dev/fuse. */
    enum Device {
        OPENS,
        MISSING,
        DENIED,
        /** It exists, but the kernel has no module for it. */
        FAILS
    }

    /** A version of Linux. */
    record Kernel(int major, int minor) {
        boolean isBefore(int otherMajor, int otherMinor) {
            return major < otherMajor || (major == otherMajor && minor < otherMinor);
        }

        @Override
        public String toString() {
            return "Linux " + major + "." + minor;
        }
    }

    /**
     * Limits of a process; {@link Long#MAX_VALUE} if unlimited.
     *
     * @param openFiles the hard limit: the JVM raises the soft one to it
     * @param lockedBytes RLIMIT_MEMLOCK
     * @param fileBytes RLIMIT_FSIZE, the soft limit
     */
    record Limits(long openFiles, long lockedBytes, long fileBytes) {}

    /** Java's ahead-of-time cache, which the launcher makes. */
    enum AotCache {
        USED,
        /** {@code penstock train} makes it. */
        NOT_YET,
        /** There is none, and this user cannot make it. */
        NOT_WRITABLE,
        /** The attempt to make it failed. */
        FAILED,
        /** This process was not started by bin/penstock. */
        NO_LAUNCHER
    }

    private static final Path FUSE = Path.of("/dev/fuse");
    private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+).*");

    private Machine() {}

    /** @param process the process whose limits are read */
    static Facts read(Host host, long process) throws IOException {
        return new Facts(
                host.isRoot(),
                device(FUSE),
                Preflight.mayMount(),
                Preflight.fusermount().isPresent(),
                Preflight.userAllowOther(),
                kernel(System.getProperty("os.version")),
                limits(Files.readAllLines(Path.of("/proc", Long.toString(process), "limits"))),
                host.memoryBytes(),
                Runtime.getRuntime().maxMemory(),
                aotCache());
    }

    static Device device(Path path) {
        try (FileChannel opened = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return opened.isOpen() ? Device.OPENS : Device.FAILS;
        } catch (NoSuchFileException e) {
            return Device.MISSING;
        } catch (AccessDeniedException e) {
            return Device.DENIED;
        } catch (IOException e) {
            return Device.FAILS;
        }
    }

    /** @param version such as {@code 6.1.0-13-amd64} */
    static Kernel kernel(String version) {
        Matcher numbers = VERSION.matcher(version);
        if (!numbers.matches()) {
            throw new IllegalArgumentException("the kernel's version is '" + version + "'");
        }
        return new Kernel(Integer.parseInt(numbers.group(1)), Integer.parseInt(numbers.group(2)));
    }

    /** @param lines of proc_pid_limits(5): name, soft limit, hard limit and unit, at least two spaces between them */
    static Limits limits(List<String> lines) {
        return new Limits(
                limit(lines, "Max open files", 2),
                limit(lines, "Max locked memory", 1),
                limit(lines, "Max file size", 1));
    }

    private static long limit(List<String> lines, String name, int column) {
        return lines.stream()
                .filter(line -> line.startsWith(name))
                .map(line -> line.split(" {2,}", -1)[column])
                .map(text -> text.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(text))
                .findFirst()
                .orElse(Long.MAX_VALUE);
    }

    /** As in bin/penstock, an empty file means that creating it failed. */
    private static AotCache aotCache() throws IOException {
        Path home = Launcher.home();
        if (home == null) {
            return AotCache.NO_LAUNCHER;
        }
        boolean isUsed = ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .anyMatch(argument -> argument.startsWith("-XX:AOTCache="));
        if (isUsed) {
            return AotCache.USED;
        }
        Path folder = Launcher.built(home);
        Path file = folder.resolve("penstock.aot");
        if (Files.exists(file) && Files.size(file) == 0) {
            return AotCache.FAILED;
        }
        return Files.isWritable(folder) ? AotCache.NOT_YET : AotCache.NOT_WRITABLE;
    }

    /** The cache that makes mounts start fast. */
    static void start(Machine.Facts machine, Findings findings) {
        String why = "Mounts start more slowly, and the first GiB takes longer to read";
        switch (machine.aotCache()) {
            case USED -> findings.ok("Java's ahead-of-time cache is in use");
            case NOT_YET -> findings.note("Java's ahead-of-time cache does not exist yet; penstock train creates it");
            case NOT_WRITABLE ->
                findings.note(
                        "Java's ahead-of-time cache is missing, and this user cannot create it",
                        why,
                        "Run penstock train as the owner of the installation's folder");
            case FAILED ->
                findings.warning(
                        "Java's ahead-of-time cache could not be created",
                        why,
                        "Remove penstock.aot* in the installation's folder, and run penstock train: it says why");
            case NO_LAUNCHER ->
                findings.note(
                        "this process was not started by bin/penstock",
                        "The JVM's memory limits and the state of its ahead-of-time cache are unknown",
                        "Run bin/penstock doctor");
        }
    }
}
