package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;

/**
 * Where and when figures were measured.
 *
 * @param commit of the working tree, "-dirty" if it has changes
 * @param loadBefore runnable processes in the minute before; above one or two, others disturbed the measurement
 */
record Conditions(
        String processor,
        int processors,
        long memoryGib,
        String kernel,
        String disk,
        String java,
        String fio,
        String commit,
        LocalDate date,
        String loadBefore) {

    /**
     * @param home the repository
     * @param folder a folder on the measured disk
     */
    static Conditions current(Path home, Path folder) throws IOException, InterruptedException {
        FileStore disk = Files.getFileStore(folder);
        return new Conditions(
                processor(Files.readString(Path.of("/proc/cpuinfo"))),
                Runtime.getRuntime().availableProcessors(),
                memoryGib(Files.readString(Path.of("/proc/meminfo"))),
                System.getProperty("os.version"),
                disk.type() + " on " + disk.name(),
                Runtime.version().toString(),
                Programs.run(List.of("fio", "--version")).strip(),
                commit(home),
                LocalDate.now(ZoneOffset.UTC),
                Files.readString(Path.of("/proc/loadavg")).split(" ", 2)[0]);
    }

    static String processor(String cpuinfo) {
        return cpuinfo.lines()
                .filter(line -> line.startsWith("model name"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElse(System.getProperty("os.arch"));
    }

    static long memoryGib(String meminfo) {
        return Math.round(bytes(meminfo, "MemTotal") / (double) (1 << 30));
    }

    /** The value of a line of /proc/meminfo (proc_meminfo(5)). */
    static long bytes(String meminfo, String name) {
        return meminfo.lines()
                .filter(line -> line.startsWith(name + ":"))
                .map(line -> line.replaceAll("[^0-9]", ""))
                .mapToLong(kib -> Long.parseLong(kib) << 10)
                .findFirst()
                .orElseThrow();
    }

    private static String commit(Path home) throws InterruptedException {
        try {
            return Programs.run(List.of("git", "-C", home.toString(), "describe", "--always", "--dirty"))
                    .strip();
        } catch (IOException e) {
            return "unknown";
        }
    }

    /** One line of Markdown. */
    String describe() {
        return String.format(
                Locale.ROOT,
                "%s, commit %s; %s, %d processors, %d GiB, Linux %s, %s, Java %s, %s, load before %s",
                date,
                commit,
                processor,
                processors,
                memoryGib,
                kernel,
                disk,
                java,
                fio,
                loadBefore);
    }
}
