package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/** The files of a data set in a folder. */
final class TrainFiles {
    private static final int THREADS = 4;

    private TrainFiles() {}

    /** Sorted; none if there is no such folder. */
    static List<Path> list(Path folder, TrainData data) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(file -> data.isOne(file.getFileName().toString()))
                    .sorted()
                    .limit(data.files())
                    .toList();
        }
    }

    /** @throws BenchException if there are fewer files than in the data set */
    static List<Path> all(Path folder, TrainData data) throws IOException, BenchException {
        List<Path> files = list(folder, data);
        if (files.size() < data.files()) {
            throw new BenchException(folder + " has " + files.size() + " of " + data.files() + " files");
        }
        return files;
    }

    /** Reads everything once. */
    static void readAll(List<Path> files) throws Exception {
        try (ExecutorService executor = Executors.newFixedThreadPool(THREADS)) {
            List<Future<Long>> reads = new ArrayList<>();
            ThreadLocal<ByteBuffer> buffer =
                    ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(TrainAccess.BUFFER));
            for (Path file : files) {
                reads.add(executor.submit(() -> TrainAccess.TFRECORD.read(file, buffer.get())));
            }
            for (Future<Long> read : reads) {
                read.get();
            }
        }
    }
}
