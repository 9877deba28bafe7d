package io.penstock.benchmarks;

import io.penstock.tools.measure.Measurement;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Access patterns for a server's file, with their names in the report. */
enum BridgeShapes {
    RANDOM_8("4 KiB random, 8 jobs"),
    RANDOM_32("4 KiB random, 32 jobs"),
    SEQUENTIAL_4("sequential 1 MiB, 4 jobs"),
    OPEN_STAT_CLOSE("open + stat + close, 4 threads");

    private static final int MIB = 1 << 20;
    private static final int OPENERS = 4;

    private final String title;

    BridgeShapes(String title) {
        this.title = title;
    }

    /** The name of this shape's figures for a server. */
    String title(String server) {
        return title + ": " + server;
    }

    /**
     * @param size of the file in bytes
     * @param seconds limit for random reads; also the number of opens in units of 10,000
     */
    Measurement run(Fio fio, Path file, long size, int seconds) throws Exception {
        return switch (this) {
            case RANDOM_8 -> random(fio, file, size, seconds, 8);
            case RANDOM_32 -> random(fio, file, size, seconds, 32);
            case SEQUENTIAL_4 -> fio.run(Fio.Shape.sequential(MIB), parts(file, size, 4));
            case OPEN_STAT_CLOSE -> FileReads.openStatClose(file, seconds * 10_000, OPENERS);
        };
    }

    private static Measurement random(Fio fio, Path file, long size, int seconds, int jobs) throws Exception {
        // Each job has its own part, so no block is read twice: the kernel would then have it already.
        return fio.run(Fio.Shape.random(4096, seconds), parts(file, size, jobs));
    }

    private static List<Fio.Job> parts(Path file, long size, int count) {
        long part = size / count;
        return new ArrayList<>(IntStream.range(0, count)
                .mapToObj(i -> new Fio.Job(file, i * part, part))
                .toList());
    }
}
