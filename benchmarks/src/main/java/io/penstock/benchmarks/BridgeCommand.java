package io.penstock.benchmarks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "bridge",
        sortOptions = false,
        description = {
            "Reads one file from memory through each binding, and through a server in C (libfuse 3) that does the same;"
                    + " counts what the bindings allocate; and splits the time from the command to the first ls.",
            "",
            "The reference takes gcc, pkg-config and libfuse3-dev; without them its ratios are omitted."
        })
final class BridgeCommand implements Callable<Integer> {
    private static final String REFERENCE = "C, libfuse 3";
    private static final List<String> BINDINGS = List.of("KERNEL", "JNR");

    /** The log line with the phases up to the first reply. */
    private static final Pattern READY = Pattern.compile("Ready after (\\d+ ms: .*)");

    @Mixin
    private ServerOptions servers;

    @Mixin
    private RunOptions run;

    private final Measurements results = new Measurements(ReportFigures.BYTES, System.err::println);

    /** Bytes allocated per request in the last round, by the name of the figures. */
    private final Map<String, Double> allocated = new LinkedHashMap<>();

    @Override
    public Integer call() throws Exception {
        long size = run.quick() ? 256L << 20 : 1L << 30;
        String heading;
        try (BenchRun opened = run.open(2 * size)) {
            S3Target server = servers.open(opened);
            heading = run.heading("bridge", opened, server, "A file of " + (size >> 20) + " MiB");
            Optional<Path> reference = Reference.compile(BenchRun.home(), opened.scratch());
            for (int round = 1; round <= run.rounds(); round++) {
                System.err.println("round " + round + " of " + run.rounds());
                round(round, reference, opened, size);
            }
            BenchFolder folder = new BenchFolder(opened, server, servers.bucket(), "");
            List<String> listings = new ArrayList<>();
            for (int round = 1; round <= run.rounds(); round++) {
                listings.add("- " + firstListing(folder) + "\n");
            }
            heading += "\n\n" + allocations() + "\nFrom the command to the first listing, each round:\n\n"
                    + String.join("", listings);
        }
        run.publish("bridge", heading, "Bindings, as a part of C", new ReportTable(results, rows()), "");
        return 0;
    }

    private static List<ReportRow> rows() {
        List<ReportRow> rows = new ArrayList<>();
        for (String binding : BINDINGS) {
            for (BridgeShapes shape : BridgeShapes.values()) {
                rows.add(ReportRow.of(shape.title(name(binding)), shape.title(REFERENCE)));
            }
        }
        return rows;
    }

    private static String name(String binding) {
        return "binding " + binding.toLowerCase(Locale.ROOT);
    }

    /** Runs the servers in turn, from another one in each round, so that other load affects all equally. */
    private void round(int round, Optional<Path> reference, BenchRun opened, long size) throws Exception {
        Scratch scratch = opened.scratch();
        List<String> names = new ArrayList<>(BINDINGS);
        if (reference.isPresent()) {
            names.add(REFERENCE);
        }
        Collections.rotate(names, round);
        for (String name : names) {
            if (name.equals(REFERENCE)) {
                Path mountPoint = scratch.folder("reference");
                shapes(REFERENCE, BridgeServer.ofReference(reference.orElseThrow(), mountPoint, size), opened, size);
            } else {
                Path cache = scratch.emptyFolder("cache");
                shapes(name(name), BridgeServer.ofBinding(name, scratch.folder(name), cache, size), opened, size);
            }
        }
    }

    private void shapes(String name, BridgeServer server, BenchRun opened, long size) throws Exception {
        opened.resources().add(server);
        Fio fio = new Fio(opened.scratch().folder("fio"));
        int seconds = run.quick() ? 1 : 5;
        for (BridgeShapes shape : BridgeShapes.values()) {
            shape.run(fio, server.file(), size, 1); // compiles the measured code
            KernelCaches.drop(server.file());
            opened.freeMemory().fill();
            BridgeServer.Counts before = server.counts();
            results.add(
                    shape.title(name),
                    ProcessUsage.measure(List.of(server.pid()), () -> shape.run(fio, server.file(), size, seconds)));
            BridgeServer.Counts after = server.counts();
            if (before != null && after != null && after.requests() > before.requests()) {
                double bytes = after.allocatedBytes() - before.allocatedBytes();
                allocated.put(shape.title(name), bytes / (after.requests() - before.requests()));
            }
        }
        opened.resources().close(server);
    }

    private String allocations() {
        List<String> each = new ArrayList<>();
        allocated.forEach((name, bytes) -> each.add(String.format(Locale.ROOT, "%s %.0f", name, bytes)));
        return "Bytes allocated by a request, the file system's included: " + String.join("; ", each) + ".\n";
    }

    /** The time from the command to the first {@code ls}, and its phases according to the mount's own log. */
    private static String firstListing(BenchFolder folder) throws Exception {
        MountProcess mount = folder.mount("--log-level", "debug");
        Programs.run(List.of("ls", mount.path().toString()));
        double millis = (System.nanoTime() - mount.startedAt()) / 1e6;
        folder.unmount(mount);
        Matcher ready = READY.matcher(Files.readString(mount.log()));
        return String.format(
                Locale.ROOT, "%.0f ms in all; ready after %s", millis, ready.find() ? ready.group(1) : "?");
    }
}
