package io.penstock.tools.bench;

import io.penstock.objectstore.ObjectStoreException;
import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
import io.penstock.tools.measure.Measurement;
import io.penstock.tools.measure.Workers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The work of programs in a folder, the same in every folder. One thread writes and reads a large file; several write,
 * read and stat small ones. All bytes read are compared with those written. For a single use by one thread.
 */
final class FolderWork {
    /** A stat is fast, so a short time is enough. */
    private static final Duration STAT_TIME = Duration.ofMillis(500);

    private final Path folder;
    private final Workload workload;
    private final BenchData data;
    private final Kept kept;
    private final Path large;

    /** The bytes of the large file, and the number of small files, that later steps read. */
    private long largeBytes;

    private int smallFiles;

    /** The call after which a program's writes are durable. */
    enum Kept {
        BY_CLOSE,
        BY_FSYNC
    }

    /**
     * Creates a folder for the run.
     *
     * @param parent the folder to create it in
     * @param kept when a file counts as written
     * @throws RefusedException if it cannot be created
     */
    FolderWork(Path parent, Workload workload, BenchData data, Kept kept) throws RefusedException {
        try {
            this.folder = Files.createDirectory(parent.resolve(DiskFolder.PREFIX + UUID.randomUUID()));
        } catch (IOException e) {
            throw new RefusedException(parent + " cannot be written to: " + Reason.of(e));
        }
        this.workload = workload;
        this.data = data;
        this.kept = kept;
        this.large = folder.resolve("large");
    }

    Path folder() {
        return folder;
    }

    /** The files created so far. */
    List<Path> files() {
        return Stream.concat(Stream.of(large), IntStream.range(0, smallFiles).mapToObj(this::small))
                .toList();
    }

    private Path small(int number) {
        return folder.resolve("small-%05d".formatted(number));
    }

    /** One thread writes one chunk after another, and closes the file. */
    Measurement writeLarge() throws IOException, ObjectStoreException, RefusedException, InterruptedException {
        int chunks = Math.toIntExact(workload.largeBytes() / BenchData.CHUNK);
        long began = System.nanoTime();
        try (FileChannel file = FileChannel.open(large, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            try {
                Measurement outcome = Workers.FILES.run(
                        1,
                        chunks,
                        workload.limit(),
                        0,
                        (number, _) -> write(file, BenchData.LARGE, number, BenchData.CHUNK));
                largeBytes = outcome.operations() * BenchData.CHUNK;
                Measurement _ = Workers.FILES.run(1, 1, (_, _) -> finish(file));
            } catch (InterruptedException e) {
                Files.deleteIfExists(large); // else the close below would upload it
                throw e;
            }
        }
        return Measurement.ofWhole(largeBytes, System.nanoTime() - began);
    }

    private void write(FileChannel file, int name, long chunk, int length) throws IOException {
        ByteBuffer bytes = data.chunk(name, chunk, length);
        while (bytes.hasRemaining()) {
            file.write(bytes);
        }
    }

    private void finish(FileChannel file) throws IOException {
        if (kept == Kept.BY_FSYNC) {
            file.force(true);
        }
        file.close();
    }

    /** One thread reads from the beginning, at most as far as an earlier read got. */
    Measurement readLarge() throws IOException, ObjectStoreException, RefusedException, InterruptedException {
        int chunks = Math.toIntExact(largeBytes / BenchData.CHUNK);
        long began = System.nanoTime();
        try (FileChannel file = FileChannel.open(large, StandardOpenOption.READ)) {
            Measurement outcome = Workers.FILES.run(1, chunks, workload.limit(), BenchData.CHUNK, (number, buffer) -> {
                read(large, file, (long) number * BenchData.CHUNK, buffer);
                data.check(large, BenchData.LARGE, number, buffer.flip());
            });
            largeBytes = outcome.operations() * BenchData.CHUNK;
        }
        return Measurement.ofWhole(largeBytes, System.nanoTime() - began);
    }

    private static void read(Path path, FileChannel file, long position, ByteBuffer to)
            throws IOException, RefusedException {
        while (to.hasRemaining()) {
            if (file.read(to, position + to.position()) < 0) {
                throw new RefusedException(path + ": unexpected end of file at byte " + (position + to.position()));
            }
        }
    }

    /** Several threads, each of which creates, writes and closes one file after another. */
    Measurement writeSmall() throws IOException, ObjectStoreException, RefusedException, InterruptedException {
        Measurement outcome =
                Workers.FILES.run(workload.threads(), workload.smallFiles(), workload.limit(), 0, (number, _) -> {
                    try (FileChannel file =
                            FileChannel.open(small(number), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                        for (int at = 0; at < workload.smallBytes(); at += BenchData.CHUNK) {
                            write(
                                    file,
                                    number,
                                    at / BenchData.CHUNK,
                                    Math.min(BenchData.CHUNK, workload.smallBytes() - at));
                        }
                        finish(file);
                    }
                });
        smallFiles = (int) outcome.operations();
        return outcome;
    }

    /** Several threads, each of which opens, reads and closes one file after another, in the order of their names. */
    Measurement readSmall() throws IOException, ObjectStoreException, RefusedException, InterruptedException {
        Measurement outcome = Workers.FILES.run(
                workload.threads(), smallFiles, workload.limit(), BenchData.CHUNK, (number, buffer) -> {
                    Path path = small(number);
                    try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
                        for (int at = 0; at < workload.smallBytes(); at += BenchData.CHUNK) {
                            buffer.clear().limit(Math.min(BenchData.CHUNK, workload.smallBytes() - at));
                            read(path, file, at, buffer);
                            data.check(path, number, at / BenchData.CHUNK, buffer.flip());
                        }
                    }
                });
        smallFiles = (int) outcome.operations();
        return outcome;
    }

    /** Several threads, which stat each small file in turn, again and again. */
    Measurement stat() throws IOException, ObjectStoreException, RefusedException, InterruptedException {
        Measurement outcome = Workers.FILES.run(
                workload.threads(), Integer.MAX_VALUE, min(STAT_TIME, workload.limit()), 0, (number, _) -> {
                    Path path = small(number % smallFiles);
                    long size = Files.readAttributes(path, BasicFileAttributes.class)
                            .size();
                    if (size != workload.smallBytes()) {
                        throw new RefusedException(
                                path + " has " + size + " bytes, but " + workload.smallBytes() + " were written to it");
                    }
                });
        return outcome;
    }

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /** Removes the folder, with as many threads as wrote it. */
    void remove() throws IOException, ObjectStoreException, RefusedException, InterruptedException {
        List<Path> left;
        try (Stream<Path> files = Files.list(folder)) {
            left = files.toList();
        }
        Measurement _ =
                Workers.FILES.run(workload.threads(), left.size(), (number, _) -> Files.delete(left.get(number)));
        Files.delete(folder);
    }
}
