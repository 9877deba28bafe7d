package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.core.Printable;
import io.penstock.serve.control.JobStatus;
import io.penstock.serve.control.JobStatus.State;
import io.penstock.serve.control.Json;
import io.penstock.settings.ByteSizes;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Locale;
import java.util.Map;

/** Waits for a job of a mount, and shows its progress. Used by one thread. */
final class JobWatch {
    private static final Duration FIRST_LOOK = Duration.ofMillis(10);
    private static final Duration LONGEST_LOOK = Duration.ofMillis(500);

    /** The most problems shown. */
    private static final int MOST_TOLD = 10;

    /** The rate is averaged over this many seconds. */
    private static final double RATE_SECONDS = 10;

    private final ServingMount mount;
    private final PrintWriter err;
    private final ArrayDeque<JobStatus> last = new ArrayDeque<>();

    JobWatch(ServingMount mount, PrintWriter err) {
        this.mount = mount;
        this.err = err;
    }

    /** The response at the job's end. Ctrl-C leaves the job running, and a message says so. */
    JsonNode await(int job) throws RefusedException, IOException, InterruptedException {
        return await(job, () -> sayThatItGoesOn(job));
    }

    /** The same for a job that only waits: Ctrl-C cancels it. */
    JsonNode awaitOrCancel(int job) throws RefusedException, IOException, InterruptedException {
        return await(job, () -> cancel(job));
    }

    private JsonNode await(int job, Runnable onInterrupt) throws RefusedException, IOException, InterruptedException {
        try (OnInterrupt _ = new OnInterrupt(onInterrupt);
                Progress progress = Progress.toUser(err)) {
            Duration pause = FIRST_LOOK;
            while (true) {
                JsonNode answer = mount.ask("job", Map.of("job", job));
                JobStatus status = Json.read(answer, JobStatus.class);
                if (status.state() != State.RUNNING) {
                    return answer;
                }
                Long bytes = status.totalBytes();
                if (bytes == null || bytes == 0) {
                    progress.tell(line(status));
                } else {
                    progress.tell((double) status.bytes() / bytes, line(status));
                }
                Thread.sleep(pause);
                Duration twice = pause.multipliedBy(2);
                pause = twice.compareTo(LONGEST_LOOK) < 0 ? twice : LONGEST_LOOK;
            }
        }
    }

    private void cancel(int job) {
        try {
            JsonNode _ = mount.ask("cancel", Map.of("job", job));
        } catch (RefusedException e) {
            // It has ended, or the mount has.
        }
    }

    private void sayThatItGoesOn(int job) {
        String point = mount.mount().mountPoint().toString();
        err.println();
        err.println("Job " + job + " continues in the mount. To see its progress:  penstock warm " + point
                + " --status;  to cancel it:  penstock warm " + point + " --cancel " + job);
        err.flush();
    }

    /** Its progress, in one line. */
    String line(JobStatus now) {
        last.add(now);
        while (last.size() > 2 && now.seconds() - last.getFirst().seconds() > RATE_SECONDS) {
            last.removeFirst();
        }
        JobStatus before = last.getFirst();
        double seconds = now.seconds() - before.seconds();
        return describe(now, seconds < 0.2 ? 0 : (now.bytes() - before.bytes()) / seconds);
    }

    /** @param rate bytes a second; 0 if unknown */
    static String describe(JobStatus now, double rate) {
        StringBuilder text = new StringBuilder();
        Long files = now.totalFiles();
        Long bytes = now.totalBytes();
        text.append(
                        files == null
                                ? Figures.count(now.files(), "file")
                                : String.format(Locale.ROOT, "%,d of ", now.files()) + Figures.count(files, "file"))
                .append(", ")
                .append(ByteSizes.about(now.bytes()))
                .append(bytes == null ? "" : " of " + ByteSizes.about(bytes));
        if (bytes != null && bytes > 0) {
            text.append(" (").append(Math.min(100, 100 * now.bytes() / bytes)).append("%)");
        }
        if (rate > 0) {
            text.append(", ").append(ByteSizes.about(rate)).append("/s");
        }
        if (rate > 0 && now.state() == State.RUNNING && bytes != null && bytes > now.bytes()) {
            text.append(", ")
                    .append(Figures.duration((long) ((bytes - now.bytes()) / rate)))
                    .append(" left");
        }
        if (now.waitsFor() != null) {
            text.append(", waiting for ").append(Printable.text(now.waitsFor()));
        }
        if (now.problemCount() > 0) {
            text.append(", ").append(Figures.count(now.problemCount(), "problem"));
        }
        return text.toString();
    }

    /** Reports the files and paths that are not done, and why the job failed; true if everything is done. */
    static boolean tellProblems(JobStatus end, PrintWriter err) {
        end.problems().stream()
                .limit(MOST_TOLD)
                .forEach(problem -> err.println("penstock: " + Printable.text(problem.path() + ": " + problem.why())));
        if (end.problemCount() > MOST_TOLD) {
            err.println("penstock: and " + (end.problemCount() - MOST_TOLD) + " more; --json lists up to 100");
        }
        String error = end.error();
        if (error != null) {
            err.println("penstock: " + Printable.text(error));
        } else if (end.state() == State.CANCELLED) {
            err.println("penstock: job " + end.job() + " was cancelled");
        }
        err.flush();
        return end.state() == State.DONE && end.problemCount() == 0;
    }

    /** Runs an action if Ctrl-C ends this process before this is closed. */
    private static final class OnInterrupt implements AutoCloseable {
        private final Thread hook;

        OnInterrupt(Runnable action) {
            hook = new Thread(action);
            Runtime.getRuntime().addShutdownHook(hook);
        }

        @Override
        public void close() {
            try {
                boolean _ = Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException e) {
                // The process is ending, and the action runs.
            }
        }
    }
}
