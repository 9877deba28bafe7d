package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The processes and files of a benchmark's run; all are removed at the end, also after a signal. */
final class BenchRun implements AutoCloseable {
    private final PlaceOptions place;
    private final Resources resources;
    private final Scratch scratch;
    private final FreeMemory freeMemory;
    private final Conditions machine;

    private BenchRun(PlaceOptions place, Resources resources, Scratch scratch)
            throws IOException, InterruptedException {
        this.place = place;
        this.resources = resources;
        this.scratch = resources.add(scratch);
        this.freeMemory = resources.add(new FreeMemory(scratch.root()));
        this.machine = Conditions.current(home(), scratch.root());
    }

    /** @param needed bytes that the run will write to the disk */
    static BenchRun open(PlaceOptions place, long needed) throws IOException, InterruptedException, BenchException {
        Scratch scratch = place.openScratch(needed);
        return new BenchRun(place, new Resources(), scratch);
    }

    /** The repository. */
    static Path home() throws IOException {
        return Path.of(System.getProperty("penstock.home", ".")).toRealPath();
    }

    /** The launcher. */
    static Path penstock() throws IOException {
        return home().resolve("bin/penstock");
    }

    PlaceOptions place() {
        return place;
    }

    Resources resources() {
        return resources;
    }

    Scratch scratch() {
        return scratch;
    }

    FreeMemory freeMemory() {
        return freeMemory;
    }

    Conditions machine() {
        return machine;
    }

    /** A new file for the output of a process. */
    Path log(String name) throws IOException {
        return Files.createTempFile(scratch.root(), name + "-", ".log");
    }

    @Override
    public void close() {
        resources.close();
    }
}
