package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.core.Printable;
import io.penstock.serve.control.JobStatus;
import io.penstock.serve.control.Json;
import io.penstock.settings.ByteSizes;
import io.penstock.settings.Durations;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "warm",
        description = {
            "Loads files into a mount's cache before programs read them, and waits until all are cached.",
            "",
            "Reads by programs have priority. Cached data is not fetched again: after an interruption, the same"
                    + " command continues. Files that do not fit into cache.size are skipped and named. Ctrl-C ends"
                    + " only the wait.",
            "",
            "With --pin, the files stay in the cache until penstock unpin or until the time of --for is over, even"
                    + " after unmounting."
        },
        footer = {
            "",
            "Examples:",
            "  penstock warm /mnt/data train/ 'val/*.tar'",
            "  penstock warm /mnt/data --manifest epoch1.txt --bandwidth 500MiB",
            "  penstock warm /mnt/data models/llama --pin --for 8h",
            "  penstock warm /mnt/data models/llama --group",
            "  penstock warm /mnt/data --status"
        })
final class WarmCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private PathArguments arguments;

    @Option(
            names = "--manifest",
            paramLabel = "FILE",
            description = "A file with further paths, one per line; - for standard input.")
    private @Nullable String manifest;

    @Option(
            names = "--pin",
            description = "Never evict the files. Refused before anything is fetched if they do not fit.")
    private boolean pin;

    @Option(names = "--for", paramLabel = "<time>", description = "How long to pin the files, such as 30m, 8h or 7d.")
    private @Nullable String pinFor;

    @Option(
            names = "--group",
            description =
                    "Load each page into the node of the cache group that owns it, once for all nodes, instead of only"
                            + " into this mount.")
    private boolean group;

    @Option(names = "--bandwidth", paramLabel = "<size>", description = "The most to fetch per second, such as 500MiB.")
    private @Nullable String bandwidth;

    @Option(
            names = "--wait",
            negatable = true,
            defaultValue = "true",
            fallbackValue = "true",
            description = "Wait until all files are cached (the default); --no-wait only starts the job, and prints its"
                    + " number.")
    private boolean wait;

    @Option(names = "--status", description = "Show the mount's jobs, without starting one.")
    private boolean status;

    @Option(
            names = "--cancel",
            paramLabel = "N",
            description = "Cancel the job with this number. Its data stays in the cache.")
    private @Nullable Integer cancel;

    @Option(names = "--json", description = "Print JSON for other programs.")
    private boolean json;

    @Override
    public Integer call() throws IOException, RefusedException, InterruptedException {
        if (status || cancel != null) {
            arguments.requireNone(status ? "--status" : "--cancel");
            if ((status && cancel != null) || manifest != null || pin || pinFor != null || bandwidth != null) {
                throw new ParameterException(
                        spec.commandLine(),
                        (status ? "--status" : "--cancel") + " starts no job: omit the other options");
            }
        } else if (manifest == null) {
            arguments.require(", or give --manifest");
        }
        ServingMount mount = arguments.mount();
        PrintWriter out = spec.commandLine().getOut();
        if (status) {
            showJobs(mount.ask("jobs", Map.of()), out);
            return ExitCode.DONE;
        } else if (cancel != null) {
            JsonNode cancelled = mount.ask("cancel", Map.of("job", cancel));
            if (json) {
                out.println(cancelled);
                out.flush();
            }
            return ExitCode.DONE;
        }
        int job = arguments.ask(mount, "warm", manifest, options()).path("job").asInt();
        if (!wait) {
            out.println(json ? "{\"job\":" + job + "}" : "Job " + job + " started");
            out.flush();
            return ExitCode.DONE;
        }
        return end(new JobWatch(mount, spec.commandLine().getErr()).await(job), out);
    }

    /** The arguments of the request other than the paths. */
    private Map<String, Object> options() {
        Map<String, Object> options = new HashMap<>(Map.of("bandwidth", bytesPerSecond(), "group", group));
        if (pin && group) {
            throw new ParameterException(
                    spec.commandLine(), "--group and --pin cannot be combined: a pin belongs to one mount");
        } else if (pin) {
            options.put("pinUntil", pinUntil());
        } else if (pinFor != null) {
            throw new ParameterException(spec.commandLine(), "--for needs --pin");
        }
        return options;
    }

    private long bytesPerSecond() {
        Long bytes = bandwidth == null ? Long.valueOf(0) : ByteSizes.parse(bandwidth);
        if (bytes == null) {
            throw new ParameterException(
                    spec.commandLine(), "--bandwidth " + bandwidth + ": must be a size with its unit such as 500MiB");
        }
        return bytes;
    }

    /** Milliseconds since 1970. */
    private long pinUntil() {
        Duration time = pinFor == null ? null : Durations.parse(pinFor);
        if (pinFor != null && (time == null || time.isZero())) {
            throw new ParameterException(
                    spec.commandLine(), "--for " + pinFor + ": must be a time such as 30m, 8h or 7d");
        }
        return time == null ? Long.MAX_VALUE : System.currentTimeMillis() + time.toMillis();
    }

    private int end(JsonNode answer, PrintWriter out) throws IOException {
        JobStatus end = Json.read(answer, JobStatus.class);
        boolean all;
        if (json) {
            out.println(answer);
            all = end.state() == JobStatus.State.DONE && end.problemCount() == 0;
        } else {
            all = JobWatch.tellProblems(end, spec.commandLine().getErr());
            if (end.error() == null) {
                out.println(JobWatch.describe(end, end.bytes() / Math.max(0.001, end.seconds())) + outcomes(end));
            }
        }
        out.flush();
        return all ? ExitCode.DONE : ExitCode.FAILED;
    }

    private static String outcomes(JobStatus job) {
        return job.outcomes().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(each -> String.format(
                        Locale.ROOT, "%,d %s", each.getValue(), each.getKey().replace('_', ' ')))
                .reduce("", (all, each) -> all + (all.isEmpty() ? "; " : ", ") + each);
    }

    private void showJobs(JsonNode jobs, PrintWriter out) throws IOException {
        if (json) {
            out.println(jobs);
        } else if (jobs.isEmpty()) {
            out.println("No jobs");
        } else {
            for (JsonNode each : jobs) {
                out.println(line(Json.read(each, JobStatus.class)));
            }
        }
        out.flush();
    }

    static String line(JobStatus job) {
        return Printable.text("%d  %s %s: %s, %s%s"
                .formatted(
                        job.job(),
                        job.command(),
                        String.join(" ", job.paths()),
                        job.state().name().toLowerCase(Locale.ROOT),
                        JobWatch.describe(job, 0),
                        job.error() == null ? "" : ": " + job.error()));
    }
}
