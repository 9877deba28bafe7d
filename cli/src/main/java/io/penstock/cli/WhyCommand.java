package io.penstock.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.core.Printable;
import io.penstock.serve.control.FileReport;
import io.penstock.serve.control.Json;
import io.penstock.settings.ByteSizes;
import io.penstock.settings.Host;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "why",
        description = {
            "Shows where a file's bytes are, how it is read, and the cost of reading the rest; for a file being"
                    + " written, the progress of its upload.",
            "",
            "The mount answers from its memory, even while the server is down."
        })
final class WhyCommand implements Callable<Integer> {
    private static final int MOST_SHOWN = 12;

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "FILE", description = "A file in a mount.")
    private String file;

    @Option(names = "--json", description = "Print JSON for other programs.")
    private boolean json;

    @Override
    public Integer call() throws IOException, RefusedException {
        ServingMount.MountedFile found = ServingMount.around(Host.current().path(file));
        ServingMount mount = found.mount();
        JsonNode answer = mount.ask("why", Map.of("path", found.path().toString()));
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(answer);
        } else if (answer.has("state")) {
            show(Json.read(answer, FileReport.Written.class), mount, out);
        } else {
            show(Json.read(answer, FileReport.class), mount, out);
        }
        out.flush();
        return ExitCode.DONE;
    }

    private static void show(FileReport.Written report, ServingMount mount, PrintWriter out) {
        add(out, "object", report.key() + " of " + mount.mount().source());
        add(out, "size", ByteSizes.about(report.bytes()));
        add(out, "state", report.state() + ": " + state(report.state()));
        add(
                out,
                "written",
                ByteSizes.about(report.written()) + " not in the bucket yet, of which "
                        + ByteSizes.about(report.staged()) + " are on the staging disk");
        add(out, "uploaded", ByteSizes.about(report.uploaded()) + " of the next version");
    }

    private static String state(String state) {
        return switch (state) {
            case "dirty" -> "not all of it would survive a crash of this machine";
            case "staged" -> "it would survive a crash of this machine, but is not in the bucket yet";
            case "sent" -> "it is being uploaded";
            case "visible" -> "it is in the bucket";
            default -> state;
        };
    }

    private static void show(FileReport report, ServingMount mount, PrintWriter out) {
        add(out, "object", report.key() + " of " + mount.mount().source());
        add(out, "version", report.version() + ", " + ByteSizes.about(report.bytes()) + ", " + report.modified());
        add(
                out,
                "cached",
                ByteSizes.about(report.nvme()) + " on NVMe, " + ByteSizes.about(report.memory()) + " in memory; "
                        + (!report.pinned()
                                ? "not pinned"
                                : report.pinnedUntil() == null ? "pinned" : "pinned until " + report.pinnedUntil()));
        for (FileReport.Range range : report.ranges().stream().limit(MOST_SHOWN).toList()) {
            add(
                    out,
                    "",
                    ByteSizes.about(range.from()) + " to " + ByteSizes.about(range.to()) + ": " + where(range.place()));
        }
        if (report.rangeCount() > MOST_SHOWN) {
            add(out, "", "and " + (report.rangeCount() - MOST_SHOWN) + " more ranges");
        }
        add(
                out,
                "read",
                (report.passedThrough() ? "by the kernel, from the cache's file (passthrough)" : "through the mount")
                        + "; " + shape(report.shape()) + "; " + Figures.count(report.readers(), "handle") + " now, "
                        + Figures.count(report.streams(), "stream") + " with readahead");
        showLast(report.lastReads(), out);
        add(
                out,
                "cold read",
                report.coldGets() == 0
                        ? "costs nothing: everything is cached or in flight"
                        : "of the rest costs " + Figures.count(report.coldGets(), "GET") + " and "
                                + ByteSizes.about(report.coldBytes()));
    }

    private static void showLast(FileReport.LastReads reads, PrintWriter out) {
        String sources = reads.sources().entrySet().stream()
                .map(source -> source.getValue() + " " + waited(source.getKey()))
                .collect(Collectors.joining(", "));
        add(out, "last reads", sources.isEmpty() ? "no recent read reached the mount" : sources);
        if (!sources.isEmpty()) {
            add(
                    out,
                    "waited",
                    time(reads.storeSeconds()) + " for the store, " + time(reads.nvmeSeconds()) + " for NVMe, "
                            + time(reads.limitSeconds()) + " for limits, summed over recent reads");
        }
        add(out, "ahead", ahead(reads.ahead()));
    }

    private static String time(double seconds) {
        return Figures.time((long) (seconds * 1e9));
    }

    private static String waited(String source) {
        return switch (source) {
            case "memory" -> "from memory";
            case "nvme" -> "from NVMe";
            case "in_flight" -> "waited for a fetch in flight";
            case "store" -> "waited for a new GET";
            case "limits" -> "waited for memory or for a GET slot";
            default -> source;
        };
    }

    private static String ahead(String why) {
        return switch (why) {
            case "not" -> "nothing recently";
            case "stream" -> "by a stream, because it is read sequentially";
            case "directory_order" -> "because the files of its folder are read in order";
            case "epoch_order" -> "in the order in which the previous epoch read its folder";
            case "whole_directory" -> "with all files of its folder, which are read at random";
            case "warmup" -> "by penstock warm";
            default -> why;
        };
    }

    private static void add(PrintWriter out, String name, String value) {
        out.println("%-10s %s".formatted(name, Printable.text(value)));
    }

    private static String where(String place) {
        return switch (place) {
            case "missing" -> "only in the bucket";
            case "inflight" -> "in flight";
            case "memory" -> "in memory";
            case "disk" -> "on NVMe";
            case "memory_and_disk" -> "on NVMe and in memory";
            case "sectors" -> "partly on NVMe, where random reads requested it";
            default -> place;
        };
    }

    private static String shape(String shape) {
        return switch (shape) {
            case "in_runs" -> "last read in long runs";
            case "at_random" -> "last read at random";
            default -> "not read before";
        };
    }
}
