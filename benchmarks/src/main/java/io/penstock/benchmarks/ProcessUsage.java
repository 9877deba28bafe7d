package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A process's use of resources so far, from /proc (proc_pid_stat(5), proc_pid_status(5)).
 *
 * @param cpuTicks user and system time of all its threads, in ticks
 * @param residentBytes memory that it has resident
 * @param peakResidentBytes the most memory that it had resident at once
 */
record ProcessUsage(long cpuTicks, long residentBytes, long peakResidentBytes) {
    /** USER_HZ: the kernel shows times to programs in hundredths of a second on every architecture that runs Java. */
    static final double TICKS_PER_SECOND = 100;

    /** A process is at rest once it uses less than this from one look to the next: a JVM's housekeeping takes one or two. */
    private static final int RESTING_TICKS = 3;

    private static final long LOOK_MILLIS = 250;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);

    static ProcessUsage of(long pid) throws IOException {
        Path proc = Path.of("/proc", Long.toString(pid));
        return parse(Files.readString(proc.resolve("stat")), Files.readString(proc.resolve("status")));
    }

    static ProcessUsage parse(String stat, String status) {
        // The second field is the command's name in parentheses, which may itself hold blanks and parentheses.
        String[] afterName = stat.substring(stat.lastIndexOf(')') + 2).trim().split(" ", -1);
        long ticks = Long.parseLong(afterName[11]) + Long.parseLong(afterName[12]);
        return new ProcessUsage(ticks, bytes(status, "VmRSS"), bytes(status, "VmHWM"));
    }

    private static long bytes(String status, String name) {
        return status.lines()
                        .filter(line -> line.startsWith(name + ":"))
                        .map(line -> line.replaceAll("[^0-9]", ""))
                        .mapToLong(Long::parseLong)
                        .findFirst()
                        .orElseThrow(() ->
                                new IllegalArgumentException("the process has ended: its status shows no " + name))
                << 10;
    }

    /**
     * Measures work that the process serves. Its later work on its own account, such as writing to the cache's disk, is
     * part of the cost.
     */
    static Sample measure(long pid, Sample.Work work) throws Exception {
        resetPeak(pid);
        long before = of(pid).cpuTicks();
        Measurement measurement = work.run();
        ProcessUsage after = atRest(pid);
        return new Sample(
                measurement,
                new Sample.Cost((after.cpuTicks() - before) / TICKS_PER_SECOND, after.peakResidentBytes()));
    }

    private static ProcessUsage atRest(long pid) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        ProcessUsage last = of(pid);
        while (System.nanoTime() < deadline) {
            Thread.sleep(LOOK_MILLIS);
            ProcessUsage now = of(pid);
            if (now.cpuTicks() - last.cpuTicks() < RESTING_TICKS) {
                return now;
            }
            last = now;
        }
        return last;
    }

    /** Resets VmHWM (proc_pid_clear_refs(5)); where that is not allowed it stays the process's own peak. */
    private static void resetPeak(long pid) {
        try {
            Files.writeString(Path.of("/proc", Long.toString(pid), "clear_refs"), "5");
        } catch (IOException e) {
            // A higher peak than this run's own is an overstatement that the documentation admits.
        }
    }
}
