package io.penstock.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "bridge",
        sortOptions = false,
        description = {
            "Reads one file from memory through each binding, beside a server in C (libfuse 3) that does the same;"
                    + " counts what the bindings allocate; and splits the time from the command to the first ls.",
            "",
            "The reference takes gcc, pkg-config and libfuse3-dev; without them its ratios are left out."
        })
final class BridgeCommand implements Callable<Integer> {
    private static final String REFERENCE = "C, libfuse 3";
    private static final List<String> BINDINGS = List.of("KERNEL", "JNR");

    @Mixin
    private ServerOptions servers;

    @Mixin
    private RunOptions run;

    private final Measurements results = new Measurements(System.err::println);

    /** Bytes allocated per request in the last round, by the name of the figures. */
    private final Map<String, Double> allocated = new LinkedHashMap<>();

    @Override
    public Integer call() throws Exception {
        Path home = Path.of(System.getProperty("penstock.home", ".")).toRealPath();
        long size = run.quick() ? 256L << 20 : 1L << 30;
        String heading;
        try (Resources resources = new Resources()) {
            Scratch scratch = resources.add(run.place().openScratch(2 * size));
            S3Target server = servers.open(scratch, resources);
            heading = run.heading(
                    "bridge", Conditions.current(home, scratch.root()), server, "A file of " + (size >> 20) + " MiB");
            System.err.println(heading);
            Optional<Path> reference = Reference.compile(home, scratch);
            FreeMemory freeMemory = resources.add(new FreeMemory(scratch.root()));
            for (int round = 1; round <= run.rounds(); round++) {
                System.err.println("round " + round + " of " + run.rounds());
                round(round, reference, scratch, resources, freeMemory, size);
            }
            FirstListing listing = new FirstListing(home.resolve("bin/penstock"), servers.bucket(), server);
            heading += "\n\n" + allocations() + "\n" + listing.measure(scratch, resources, run.rounds());
        }
        run.publish(home, "bridge", heading, "Bindings, as a part of C", new ReportTable(results, rows()));
        return 0;
    }

    private static List<ReportRow> rows() {
        List<ReportRow> rows = new ArrayList<>();
        for (String binding : BINDINGS) {
            for (BridgeShapes shape : BridgeShapes.values()) {
                rows.add(new ReportRow(shape.title(name(binding)), new ReportRow.Ceiling(shape.title(REFERENCE))));
            }
        }
        return rows;
    }

    private static String name(String binding) {
        return "binding " + binding.toLowerCase(Locale.ROOT);
    }

    /** Runs the servers in turn, from another one in each round, so that other load affects all equally. */
    private void round(
            int round, Optional<Path> reference, Scratch scratch, Resources resources, FreeMemory freeMemory, long size)
            throws Exception {
        List<String> names = new ArrayList<>(BINDINGS);
        if (reference.isPresent()) {
            names.add(REFERENCE);
        }
        Collections.rotate(names, round);
        for (String name : names) {
            if (name.equals(REFERENCE)) {
                Path mountPoint = scratch.folder("reference");
                BridgeServer server = BridgeServer.ofReference(reference.orElseThrow(), mountPoint, size);
                shapes(REFERENCE, server, scratch, resources, freeMemory, size);
            } else {
                Path cache = scratch.emptyFolder("cache");
                BridgeServer server = BridgeServer.ofBinding(name, scratch.folder(name), cache, size);
                shapes(name(name), server, scratch, resources, freeMemory, size);
            }
        }
    }

    private void shapes(
            String name, BridgeServer server, Scratch scratch, Resources resources, FreeMemory freeMemory, long size)
            throws Exception {
        resources.add(server);
        Fio fio = new Fio(scratch.folder("fio"));
        int seconds = run.quick() ? 1 : 5;
        for (BridgeShapes shape : BridgeShapes.values()) {
            shape.run(fio, server.file(), size, 1); // compiles the measured code
            KernelCaches.drop(server.file());
            freeMemory.fill();
            BridgeServer.Counts before = server.counts();
            results.add(
                    shape.title(name),
                    ProcessUsage.measure(server.pid(), () -> shape.run(fio, server.file(), size, seconds)));
            BridgeServer.Counts after = server.counts();
            if (before != null && after != null && after.requests() > before.requests()) {
                double bytes = after.allocatedBytes() - before.allocatedBytes();
                allocated.put(shape.title(name), bytes / (after.requests() - before.requests()));
            }
        }
        resources.close(server);
    }

    private String allocations() {
        StringBuilder text = new StringBuilder("Bytes allocated by a request, the file system's included: ");
        List<String> each = new ArrayList<>();
        allocated.forEach((name, bytes) -> each.add(String.format(Locale.ROOT, "%s %.0f", name, bytes)));
        return text.append(String.join("; ", each)).append(".\n").toString();
    }
}
