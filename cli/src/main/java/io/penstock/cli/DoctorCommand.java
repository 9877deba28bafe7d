package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.fuse.MountTable;
import io.penstock.fuse.Preflight;
import io.penstock.serve.control.Json;
import io.penstock.serve.control.MountStatistics;
import io.penstock.serve.log.Logging;
import io.penstock.serve.mount.MountBoundary;
import io.penstock.serve.mount.Target;
import io.penstock.serve.state.RunningMount;
import io.penstock.settings.Configuration;
import io.penstock.settings.ConfigurationException;
import io.penstock.settings.Host;
import io.penstock.settings.LogLevel;
import io.penstock.settings.process.RefusedException;
import io.penstock.tools.doctor.Doctor;
import io.penstock.tools.doctor.Finding;
import io.penstock.tools.doctor.Finding.Severity;
import io.penstock.tools.doctor.MountHealth;
import io.penstock.tools.doctor.Report;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "doctor",
        description = {
            "Finds faults and slow parts, and names the setting or command that fixes each.",
            "",
            "Without an argument, it examines this machine; with a bucket, also the store, as a mount would use it;"
                    + " with a mount point, that mount. It changes nothing. Measurements take about ten seconds, and"
                    + " temporarily write up to 256 MiB to the cache's disk; a running mount is not measured.",
            "",
            "Accepts the same options as penstock mount."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:nothing worse than a note",
            "1:warnings: a mount works, but is slow or may fail later",
            "2:errors: a mount fails; or the command line is wrong"
        })
final class DoctorCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "BUCKET[/PREFIX]|MOUNTPOINT",
            arity = "0..1",
            description = "The bucket or mount point to examine. Whatever is mounted or begins with a slash is a mount"
                    + " point.")
    private @Nullable String subject;

    @Option(names = "--quick", description = "Measure nothing.")
    private boolean quick;

    @Option(
            names = "--write",
            description = "Try writes too, with temporary objects below .penstock/doctor-..., which no mount shows.")
    private boolean write;

    @Option(names = "--json", description = "Print the findings as an array of JSON objects.")
    private boolean json;

    @Mixin
    private ConfigurationArguments arguments;

    private final List<Finding> findings = new ArrayList<>();

    @Override
    public Integer call() throws ConfigurationException, IOException, RefusedException, InterruptedException {
        if (write) {
            Logging.toTerminal(LogLevel.ERROR); // the findings include the warnings of probes
        }
        PrintWriter out = spec.commandLine().getOut();
        Optional<MountTable.Entry> mounted = subject == null ? Optional.empty() : mounted(subject);
        if (mounted.isPresent()) {
            examine(mounted.get());
        } else if (subject == null) {
            doctor(configuration("BUCKET")).machine(busy());
        } else {
            Target target = Target.parse(subject);
            Doctor doctor = doctor(configuration(target.bucket()));
            doctor.machine(busy());
            doctor.bucket(target);
        }
        out.println(json ? Report.json(findings) : Report.summary(findings));
        out.flush();
        return exitCode();
    }

    private Configuration configuration(String bucket) throws ConfigurationException {
        return arguments.resolve(bucket, spec.commandLine().getParseResult(), "-o");
    }

    private Doctor doctor(Configuration configuration) {
        return new Doctor(Host.current(), configuration, new Doctor.Scope(!quick, write), this::report);
    }

    private void report(Finding finding) {
        findings.add(finding);
        if (!json) {
            PrintWriter out = spec.commandLine().getOut();
            out.print(Report.lines(finding));
            out.flush();
        }
    }

    /** The Penstock mount that the text names; empty if it names a bucket. */
    private static Optional<MountTable.Entry> mounted(String text) throws IOException, RefusedException {
        Path path = Host.current().path(text);
        MountTable table = MountTable.read();
        List<Path> mountPoints = RunningMount.mountPoints(table.entries());
        Optional<MountTable.Entry> mounted =
                table.at(MountBoundary.resolve(path, mountPoints)).filter(RunningMount::isPenstock);
        if (mounted.isEmpty() && text.matches("[/~.].*")) {
            throw new RefusedException(ServingMount.notMounted(path, mountPoints));
        }
        return mounted;
    }

    /** The cache folders of running mounts. */
    private static Set<Path> busy() throws IOException {
        return RunningMount.list(Host.current()).stream()
                .filter(RunningMount::isAlive)
                .map(RunningMount::cache)
                .collect(Collectors.toSet());
    }

    private void examine(MountTable.Entry mounted)
            throws ConfigurationException, IOException, RefusedException, InterruptedException {
        Target target = Target.parse(mounted.source());
        Optional<RunningMount> running =
                RunningMount.newest(RunningMount.list(Host.current()), mounted.mountPoint(), false);
        doctor(configuration(running, target.bucket()))
                .mount(
                        running.map(RunningMount::pid)
                                .orElse(ProcessHandle.current().pid()),
                        target,
                        () -> facts(mounted.mountPoint(), running));
    }

    /** The mount's settings, or those of this command if the mount does not report them. */
    private Configuration configuration(Optional<RunningMount> running, String bucket) throws ConfigurationException {
        if (running.isPresent()) {
            try {
                return new ServingMount(running.get()).configuration(bucket);
            } catch (RefusedException e) {
                report(new Finding(
                        "settings",
                        Severity.NOTE,
                        "the mount does not report its settings: " + e.getMessage(),
                        "Those of the configuration file are examined instead",
                        ""));
            }
        }
        return configuration(bucket);
    }

    private static MountHealth.Facts facts(Path mountPoint, Optional<RunningMount> running) throws IOException {
        if (running.isEmpty()) {
            boolean isAlive = !Preflight.isDead(mountPoint);
            return new MountHealth.Facts(
                    mountPoint.toString(),
                    isAlive,
                    "",
                    null,
                    "the process that serves " + mountPoint + " left no state file that this user can read");
        }
        String description = running.get().description();
        try {
            JsonNode statistics = new ServingMount(running.get()).ask("stats", Map.of());
            return new MountHealth.Facts(
                    mountPoint.toString(), true, description, Json.read(statistics, MountStatistics.class), "");
        } catch (RefusedException e) {
            return new MountHealth.Facts(
                    mountPoint.toString(), running.get().isAlive(), description, null, String.valueOf(e.getMessage()));
        }
    }

    private int exitCode() {
        Severity worst = findings.stream()
                .map(Finding::severity)
                .max(Comparator.naturalOrder())
                .orElse(Severity.OK);
        return switch (worst) {
            case OK, NOTE -> ExitCode.DONE;
            case WARNING -> ExitCode.WARNINGS;
            case ERROR -> ExitCode.ERRORS;
        };
    }
}
