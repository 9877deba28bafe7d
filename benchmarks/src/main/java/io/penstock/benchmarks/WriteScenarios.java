package io.penstock.benchmarks;

import io.penstock.benchmarks.ReportRow.Ceiling;
import io.penstock.tools.measure.Measurement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/** Rows of {@code bin/bench write}. */
final class WriteScenarios {
    /** The default numbers of parts that a mount sends concurrently, per file and in total. */
    static final int PER_FILE = 16;

    private static final int IN_ALL = 32;
    private static final int STREAMS = 8;

    /** Sizes of the calls that are compared. */
    private static final List<Integer> KIB = List.of(4, 1024);

    /** One part in this many of a large file is written by such calls: small ones take long. */
    private static final int PART = 4;

    private static final int BLOCK = 4096;

    private WriteScenarios() {}

    static String rawName(int files, int concurrency) {
        return "raw parts of 8 MiB × " + concurrency + ", " + ReadScenarios.files(files);
    }

    /** One file, and eight at the same time, written sequentially and closed, against the minimum parts for that. */
    static Scenario<WriteRig> streams() {
        List<ReportRow> rows = List.of(
                ReportRow.of(streamsName(1), new Ceiling(rawName(1, PER_FILE)), bestRaw(1)),
                ReportRow.of(streamsName(STREAMS), new Ceiling(rawName(STREAMS, IN_ALL)), bestRaw(STREAMS)));
        return new Scenario<>(rows, rig -> {
            for (int files : List.of(1, STREAMS)) {
                long size = rig.sizes().file() / files;
                List<String> raw = rig.keys("raw", files);
                rig.raw(rawName(files, PER_FILE), () -> rig.puts().parts(raw, size, WriteRig.PART, PER_FILE));
                MountProcess mount = rig.mount();
                rig.served(
                        streamsName(files),
                        mount,
                        () -> FileWrites.sequential(WriteRig.files(mount, "file", files), size, FileWrites.End.CLOSE));
                rig.unmount(mount);
                rig.raw(rawName(files, IN_ALL), () -> rig.puts().parts(raw, size, WriteRig.PART, IN_ALL));
            }
        });
    }

    private static String streamsName(int files) {
        return "write " + ReadScenarios.files(files) + ", until closed";
    }

    private static Ceiling bestRaw(int files) {
        return new Ceiling(List.of(rawName(files, PER_FILE), rawName(files, IN_ALL)));
    }

    /** A checkpoint that does not delay the program: closed once it is on NVMe, against a bare file and fdatasync. */
    static Scenario<WriteRig> staged() {
        String staged = "write 1 file, until closed, write.close=staged";
        String fsynced = "write 1 file, until fdatasync";
        String bare = "bare disk, 1 file, until fdatasync";
        return new Scenario<>(List.of(ReportRow.of(staged, bare), ReportRow.of(fsynced, bare)), rig -> {
            long size = rig.sizes().file();
            // One mount, and the bare disk before and after it. A disk that discards each deleted block is slow after
            // a cache was deleted, for longer than a benchmark can wait.
            MountProcess mount = rig.mount("-o", "write.close=staged");
            rig.awaitObject("warm-up", size / 4);
            rig.bare(bare, () -> write(rig.bareFile("before"), size, FileWrites.End.FDATASYNC));
            rig.served(staged, mount, () -> write(mount.path().resolve("staged"), size, FileWrites.End.CLOSE));
            rig.awaitObject("staged", size);
            rig.served(fsynced, mount, () -> write(mount.path().resolve("synced"), size, FileWrites.End.FDATASYNC));
            rig.awaitObject("synced", size);
            rig.bare(bare, () -> write(rig.bareFile("after"), size, FileWrites.End.FDATASYNC));
            rig.unmount(mount);
        });
    }

    private static Measurement write(Path file, long size, FileWrites.End end) throws Exception {
        return FileWrites.sequential(List.of(file), size, end);
    }

    /** A file written in small and in large calls, with and without the kernel's writeback cache. */
    static Scenario<WriteRig> calls() {
        List<ReportRow> rows = new ArrayList<>();
        for (int kib : KIB) {
            rows.add(ReportRow.of(callsName(kib, false)));
            rows.add(ReportRow.of(callsName(kib, true), callsName(kib, false)));
        }
        return new Scenario<>(rows, rig -> {
            for (int kib : KIB) {
                for (boolean cached : List.of(false, true)) {
                    MountProcess mount = rig.mount("-o", "fuse.writeback-cache=" + cached);
                    List<Path> file = List.of(mount.path().resolve("calls"));
                    long size = rig.sizes().file() / PART;
                    rig.served(
                            callsName(kib, cached),
                            mount,
                            () -> FileWrites.sequential(file, size, kib << 10, FileWrites.End.CLOSE));
                    rig.unmount(mount);
                }
            }
        });
    }

    private static String callsName(int kib, boolean cached) {
        return "write 1 file by calls of " + kib + " KiB, until closed" + (cached ? ", fuse.writeback-cache" : "");
    }

    /** Many small files, each created, written and closed, by 16 threads. */
    static Scenario<WriteRig> small() {
        String small = "write files of 100 KiB, 16 threads";
        String raw = "raw PUTs of 100 KiB × " + WriteRig.THREADS;
        return new Scenario<>(List.of(ReportRow.of(small, raw)), rig -> {
            int count = rig.sizes().smallFiles();
            List<String> keys = rig.keys("raw-small/", count);
            rig.raw(raw, () -> rig.puts().wholes(keys, DataSet.SMALL_SIZE, WriteRig.THREADS));
            MountProcess mount = rig.mount();
            Files.createDirectory(mount.path().resolve("small"));
            List<Path> files = WriteRig.files(mount, "small/", count);
            rig.served(small, mount, () -> FileWrites.whole(files, DataSet.SMALL_SIZE, WriteRig.THREADS));
            rig.unmount(mount);
        });
    }

    /** Random writes of 4 KiB to a large object, and the commit, for which the store copies the rest. */
    static Scenario<WriteRig> random() {
        String random = "write 4 KiB at random into 1 file, until closed";
        return new Scenario<>(List.of(ReportRow.of(random)), rig -> {
            long size = rig.sizes().file();
            MountProcess mount = rig.mount();
            Path file = mount.path().resolve("random");
            Measurement _ = write(file, size, FileWrites.End.CLOSE);
            rig.unmount(mount);
            MountProcess again = rig.mount(); // with none of it in the cache
            rig.served(
                    random,
                    again,
                    () -> FileWrites.random(file, size, BLOCK, rig.sizes().randomWrites()));
            rig.unmount(again);
        });
    }

    /** A file is read for the first time while checkpoints are written, against each of the two alone. */
    static Scenario<WriteRig> reads() {
        List<String> files = List.of("read0", "read1", "read2");
        String read = "read 1 file, cold, while files are written";
        String readAlone = "read 1 file, cold, while nothing is written";
        String written = "write files, while 1 file is read";
        String writtenAlone = "write 1 file, while nothing is read";
        Scenario.Step<WriteRig> keep = rig -> {
            for (String name : files) {
                rig.keep(name);
            }
        };
        return new Scenario<>(
                List.of(ReportRow.of(read, readAlone), ReportRow.of(written, writtenAlone)), keep, rig -> {
                    long size = rig.sizes().file();
                    for (String name : files) {
                        rig.provide(name);
                    }
                    MountProcess mount = rig.mount();
                    Measurement _ = read(mount.path().resolve(files.get(0)), size); // compiles this code, too
                    rig.served(readAlone, mount, () -> read(mount.path().resolve(files.get(1)), size));
                    Path burst = mount.path().resolve("burst");
                    rig.served(writtenAlone, mount, () -> write(burst, size, FileWrites.End.CLOSE));
                    AtomicBoolean over = new AtomicBoolean();
                    try (ExecutorService writer = Executors.newSingleThreadExecutor()) {
                        Future<Measurement> writing = writer.submit(() -> FileWrites.until(over::get, burst, size));
                        try {
                            rig.served(read, mount, () -> read(mount.path().resolve(files.get(2)), size));
                        } finally {
                            over.set(true);
                        }
                        rig.add(written, new Sample(writing.get(), null));
                    }
                    rig.unmount(mount);
                });
    }

    private static Measurement read(Path file, long size) throws IOException {
        return FileReads.interleaved(file, size, 1, ReadRig.CALL, ReadRig.CALL);
    }
}
