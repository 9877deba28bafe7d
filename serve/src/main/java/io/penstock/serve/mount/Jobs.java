package io.penstock.serve.mount;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.serve.control.JobStatus;
import io.penstock.settings.process.RefusedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The jobs of a mount: those that run, and the last ones that ended. Thread-safe. */
final class Jobs implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Jobs.class);

    private static final int MOST_RUNNING = 8;
    private static final int MOST_ENDED = 32;

    /** The number of ended jobs that keep their results: a result has a row for each path. */
    private static final int MOST_RESULTS = MOST_RUNNING;

    /** The timeout for all jobs together. An interrupted job releases its resources; it waits for nothing else. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    @GuardedBy("this")
    private final Map<Integer, Running> jobs = new LinkedHashMap<>();

    @GuardedBy("this")
    private int last;

    @GuardedBy("this")
    private boolean closed;

    private record Running(Job job, Thread thread) {}

    /** @return the job's number */
    int start(Job job) throws RefusedException {
        return start(job, () -> {});
    }

    /**
     * The same for a job that leaves something to clean up.
     *
     * @param atTheEnd called on the job's thread, unless the job is refused
     */
    synchronized int start(Job job, Runnable atTheEnd) throws RefusedException {
        if (closed) {
            throw new RefusedException("the mount is being unmounted");
        }
        long running =
                jobs.values().stream().filter(each -> each.job().isRunning()).count();
        if (running >= MOST_RUNNING) {
            throw new RefusedException(running + " jobs are already running; wait for one to end, or cancel one");
        }
        int number = ++last;
        // Not a virtual thread: it reads lists and writes pins, and a disk that hangs would block its carrier.
        Thread thread = Thread.ofPlatform().daemon().name("job-" + number).unstarted(() -> {
            job.run(number);
            atTheEnd.run();
        });
        jobs.put(number, new Running(job, thread));
        thread.start();
        List<Running> ended = jobs.values().stream()
                .filter(each -> !each.job().isRunning())
                .sorted(Comparator.comparingLong(each -> each.job().ended()))
                .toList();
        ended.subList(0, Math.max(0, ended.size() - MOST_RESULTS))
                .forEach(each -> each.job().forgetResult());
        jobs.values().removeAll(ended.subList(0, Math.max(0, ended.size() - MOST_ENDED)));
        return number;
    }

    /** All jobs without their results, the latest one last. */
    synchronized List<JobStatus> all() {
        List<JobStatus> all = new ArrayList<>();
        jobs.forEach((number, each) -> all.add(each.job().status(number)));
        return all;
    }

    /** The job with its result, unless many jobs have ended since. */
    synchronized JobStatus status(int number) throws RefusedException {
        return find(number).job().result(number);
    }

    /** Ends the job soon. A job that has ended stays as it is. */
    synchronized JobStatus cancel(int number) throws RefusedException {
        Running found = find(number);
        found.thread().interrupt();
        return found.job().result(number);
    }

    @GuardedBy("this")
    private Running find(int number) throws RefusedException {
        Running found = jobs.get(number);
        if (found == null) {
            List<Integer> running = jobs.entrySet().stream()
                    .filter(each -> each.getValue().job().isRunning())
                    .map(Map.Entry::getKey)
                    .toList();
            throw new RefusedException("no such job: " + number
                    + (running.isEmpty() ? "; no job is running" : "; running jobs: " + running));
        }
        return found;
    }

    /** Cancels all jobs, and waits for their end. */
    @Override
    public void close() {
        List<Running> left;
        synchronized (this) {
            closed = true;
            left = List.copyOf(jobs.values());
        }
        left.forEach(each -> each.thread().interrupt());
        try {
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            for (Running each : left) {
                if (!each.thread().join(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())))) {
                    log.warn("{} did not end", each.thread().getName());
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
