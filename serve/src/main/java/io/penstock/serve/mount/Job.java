package io.penstock.serve.mount;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.serve.control.JobStatus;
import io.penstock.serve.control.JobStatus.PathResidency;
import io.penstock.serve.control.JobStatus.Problem;
import io.penstock.serve.control.JobStatus.State;
import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A mount's work for a command that takes longer than a response may. It runs on its own thread; any thread may read
 * its progress.
 *
 * <pre>
 *   RUNNING ──▶ DONE       with or without problems
 *      ├──▶ FAILED         it could not continue, or was refused
 *      └──▶ CANCELLED      by an interrupt
 * </pre>
 */
abstract class Job {
    private static final Logger log = LoggerFactory.getLogger(Job.class);

    /** The number of problems that are stored in words and logged. */
    private static final int MOST_PROBLEMS = 100;

    private final String command;
    private final List<String> paths;
    private final long begun = System.nanoTime();

    @GuardedBy("this")
    private int number;

    @GuardedBy("this")
    private State state = State.RUNNING;

    @GuardedBy("this")
    private @Nullable String error;

    @GuardedBy("this")
    private long ended;

    @GuardedBy("this")
    private long files;

    @GuardedBy("this")
    private @Nullable Long totalFiles;

    @GuardedBy("this")
    private @Nullable Long totalBytes;

    @GuardedBy("this")
    private @Nullable String waitsFor;

    @GuardedBy("this")
    private final Map<String, Long> outcomes = new TreeMap<>();

    @GuardedBy("this")
    private long problemCount;

    @GuardedBy("this")
    private final List<Problem> problems = new ArrayList<>();

    @GuardedBy("this")
    private final List<PathResidency> residencies = new ArrayList<>();

    Job(String command, List<String> paths) {
        this.command = command;
        this.paths = paths;
    }

    /** Does the work, until it is interrupted. */
    abstract void work() throws RefusedException, ObjectStoreException, IOException, InterruptedException;

    /** Bytes done so far. */
    abstract long bytes();

    /** @param number the job's number */
    final void run(int number) {
        synchronized (this) {
            this.number = number;
        }
        log.info("Job {} started: {} {}", number, command, paths);
        try {
            work();
            end(State.DONE, null);
        } catch (InterruptedException e) {
            end(State.CANCELLED, null);
        } catch (RefusedException | ObjectStoreException e) {
            end(State.FAILED, e.getMessage());
        } catch (IOException e) {
            end(State.FAILED, Reason.of(e));
        } catch (RuntimeException | Error e) {
            log.error("Job {} failed unexpectedly", number, e);
            end(State.FAILED, "internal error; see the mount's log");
        }
        JobStatus status = status(number);
        log.info(
                "Job {} ended: {}, {} files, {} bytes, {} problems{}",
                number,
                status.state().name().toLowerCase(Locale.ROOT),
                status.files(),
                status.bytes(),
                status.problemCount(),
                status.error() == null ? "" : ": " + status.error());
    }

    private synchronized void end(State last, @Nullable String why) {
        state = last;
        waitsFor = null;
        error = why;
        ended = System.nanoTime();
    }

    synchronized void total(long fileCount, long byteCount) {
        totalFiles = fileCount;
        totalBytes = byteCount;
    }

    /** Sets the path that it waits for now. */
    synchronized void waitsFor(String path) {
        waitsFor = path;
    }

    /** One more file is done. */
    synchronized void done(String outcome) {
        files++;
        outcomes.merge(outcome, 1L, Long::sum);
    }

    /** A path that could not be processed. */
    public synchronized void problem(String path, String why) {
        problemCount++;
        if (problemCount <= MOST_PROBLEMS) {
            log.warn("Job {}: {}: {}", number, path, why);
        }
        if (problems.size() < MOST_PROBLEMS) {
            problems.add(new Problem(path, why));
        }
    }

    synchronized void found(PathResidency residency) {
        residencies.add(residency);
    }

    synchronized boolean isRunning() {
        return state == State.RUNNING;
    }

    /** When it ended, by {@link System#nanoTime}. */
    synchronized long ended() {
        return ended;
    }

    /** Its progress, without the rows of its result: there may be very many. */
    synchronized JobStatus status(int number) {
        return status(number, List.of());
    }

    /** Its progress, and its result once it has ended. */
    synchronized JobStatus result(int number) {
        return status(number, state == State.RUNNING ? List.of() : List.copyOf(residencies));
    }

    synchronized void forgetResult() {
        residencies.clear();
    }

    @GuardedBy("this")
    private JobStatus status(int number, List<PathResidency> rows) {
        long until = state == State.RUNNING ? System.nanoTime() : ended;
        return new JobStatus(
                number,
                command,
                paths,
                state,
                error,
                (until - begun) / 1e9,
                files,
                bytes(),
                totalFiles,
                totalBytes,
                waitsFor,
                Map.copyOf(outcomes),
                problemCount,
                List.copyOf(problems),
                rows);
    }
}
