package io.penstock.benchmarks;

import io.penstock.tools.measure.Measurement;
import io.penstock.tools.measure.Workers;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** Calls that change file names, by platform threads; one operation per file. */
final class FileNames {
    private FileNames() {}

    /** Renames each file to the one at the same index in the other list: rename(2). */
    static Measurement rename(List<Path> from, List<Path> to, int threads) throws Exception {
        return Workers.FILES.run(
                threads, from.size(), (i, _) -> Files.move(from.get(i), to.get(i), StandardCopyOption.ATOMIC_MOVE));
    }

    /** The same, but thread {@code i} alone handles the files {@code i}, {@code i + threads} and so on. */
    static Measurement renameDealt(List<Path> from, List<Path> to, int threads) throws Exception {
        long[] nanos = new long[from.size()];
        Measurement run = Workers.FILES.run(threads, threads, (first, _) -> {
            for (int i = first; i < nanos.length; i += threads) {
                long begun = System.nanoTime();
                Files.move(from.get(i), to.get(i), StandardCopyOption.ATOMIC_MOVE);
                nanos[i] = System.nanoTime() - begun;
            }
        });
        return Measurement.of(nanos.length, run.nanos(), nanos);
    }

    /** Removes all files of the folder, and waits until the folder's names are in the store: fsync(2). */
    static Measurement unlink(List<Path> files, Path folder, int threads) throws Exception {
        long start = System.nanoTime();
        Measurement calls = Workers.FILES.run(threads, files.size(), (i, _) -> Files.delete(files.get(i)));
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        }
        return new Measurement(
                calls.bytes(), calls.operations(), System.nanoTime() - start, calls.p50Nanos(), calls.p99Nanos());
    }

    /** When a program renames the temporary file. */
    enum Rename {
        WHILE_OPEN,
        AFTER_CLOSE
    }

    /** For each of these files, writes a temporary file and renames it over the old one. */
    static Measurement replace(List<Path> files, int size, Rename order, int threads) throws Exception {
        byte[] content = RandomBytes.of("replaced", 0, size);
        return Workers.FILES.run(threads, files.size(), (i, _) -> {
            Path file = files.get(i);
            Path temporary = file.resolveSibling("tmp-" + file.getFileName());
            try (FileChannel channel =
                    FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                FileWrites.writeAll(channel, ByteBuffer.wrap(content));
                if (order == Rename.WHILE_OPEN) {
                    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
                }
            }
            if (order == Rename.AFTER_CLOSE) {
                Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
            }
        });
    }
}
