package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

    /** Measures work that the process serves. */
    static Sample measure(long pid, Sample.Work work) throws Exception {
        return measure(List.of(pid), work);
    }

    /**
     * Measures work that the processes serve. Their later work on their own account, such as writing to the cache's disk,
     * is part of the cost.
     */
    static Sample measure(List<Long> pids, Sample.Work work) throws Exception {
        pids.forEach(ProcessUsage::resetPeak);
        long before = of(pids).cpuTicks();
        Measurement measurement = work.run();
        ProcessUsage after = atRest(pids);
        return new Sample(
                measurement,
                new Sample.Cost((after.cpuTicks() - before) / TICKS_PER_SECOND, after.peakResidentBytes()));
    }

    /** All of them together; their peaks may have been at different times. */
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

    /** Resets VmHWM (proc_pid_clear_refs(5)); where that is not allowed it stays the process's own peak. */
    private static void resetPeak(long pid) {
        try {
            Files.writeString(Path.of("/proc", Long.toString(pid), "clear_refs"), "5");
        } catch (IOException e) {
            // A higher peak than this run's own is an overstatement that the documentation admits.
        }
    }
}
