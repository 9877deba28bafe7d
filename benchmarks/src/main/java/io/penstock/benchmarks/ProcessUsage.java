package io.penstock.benchmarks;

import io.penstock.tools.measure.Measurement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A process's resource usage so far, from /proc (proc_pid_stat(5), proc_pid_status(5)).
 *
 * @param cpuTicks user and system time of all its threads, in ticks
 * @param residentBytes resident memory
 * @param peakResidentBytes peak resident memory
 */
record ProcessUsage(long cpuTicks, long residentBytes, long peakResidentBytes) {
    /** USER_HZ: the kernel reports times to programs in hundredths of a second on every architecture that runs Java. */
    static final double TICKS_PER_SECOND = 100;

    /** A process that uses less than this between two checks is at rest; a JVM's housekeeping takes 1 or 2. */
    private static final int RESTING_TICKS = 3;

    private static final long LOOK_MILLIS = 250;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);

    static ProcessUsage of(long pid) throws IOException {
        Path proc = Path.of("/proc", Long.toString(pid));
        return parse(Files.readString(proc.resolve("stat")), Files.readString(proc.resolve("status")));
    }

    static ProcessUsage parse(String stat, String status) {
        // The second field is the command name in parentheses, which may itself contain blanks and parentheses.
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

    /** Measures work that the processes serve. The cost includes later work, such as writing to the cache's disk. */
    static Sample measure(List<Long> pids, Sample.Work work) throws Exception {
        pids.forEach(ProcessUsage::resetPeak);
        long before = of(pids).cpuTicks();
        Measurement measurement = work.run();
        ProcessUsage after = atRest(pids);
        return new Sample(
                measurement,
                new Sample.Cost((after.cpuTicks() - before) / TICKS_PER_SECOND, after.peakResidentBytes()));
    }

    /** The sum over all of them; their peaks may have been at different times. */
    private static ProcessUsage of(List<Long> pids) throws IOException {
        ProcessUsage all = new ProcessUsage(0, 0, 0);
        for (long pid : pids) {
            ProcessUsage one = of(pid);
            all = new ProcessUsage(
                    all.cpuTicks + one.cpuTicks,
                    all.residentBytes + one.residentBytes,
                    all.peakResidentBytes + one.peakResidentBytes);
        }
        return all;
    }

    private static ProcessUsage atRest(List<Long> pids) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        ProcessUsage last = of(pids);
        while (System.nanoTime() < deadline) {
            Thread.sleep(LOOK_MILLIS);
            ProcessUsage now = of(pids);
            if (now.cpuTicks() - last.cpuTicks() < (long) RESTING_TICKS * pids.size()) {
                return now;
            }
            last = now;
        }
        return last;
    }

    /** Resets VmHWM (proc_pid_clear_refs(5)). If that is not allowed, it stays the peak since the process's start. */
    private static void resetPeak(long pid) {
        try {
            Files.writeString(Path.of("/proc", Long.toString(pid), "clear_refs"), "5");
        } catch (IOException e) {
            // Then the peak is overstated, as the documentation mentions.
        }
    }
}
