package io.penstock.cli.doctor;

import io.penstock.cli.config.Host;
import io.penstock.cli.doctor.MachineFacts.AotCache;
import io.penstock.cli.doctor.MachineFacts.Device;
import io.penstock.cli.doctor.MachineFacts.Kernel;
import io.penstock.cli.doctor.MachineFacts.Limits;
import io.penstock.cli.process.Launcher;
import io.penstock.fuse.Preflight;
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

/** Gathers the facts of this machine. */
final class Machine {
    private static final Path FUSE = Path.of("/dev/fuse");
    private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+).*");

    private Machine() {}

    /** @param process whose limits count */
    static MachineFacts read(Host host, long process) throws IOException {
        return new MachineFacts(
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

    /** @param lines of proc_pid_limits(5): name, soft limit, hard limit and unit, at least two blanks between them */
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

    /** As bin/penstock has it: an empty file says that its making failed. */
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
        Path folder = home.resolve("cli/target/penstock");
        Path file = folder.resolve("penstock.aot");
        if (Files.exists(file) && Files.size(file) == 0) {
            return AotCache.FAILED;
        }
        return Files.isWritable(folder) ? AotCache.NOT_YET : AotCache.NOT_WRITABLE;
    }
}
