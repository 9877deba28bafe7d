package io.penstock.benchmarks;

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
        return each(from.size(), threads, i -> Files.move(from.get(i), to.get(i), StandardCopyOption.ATOMIC_MOVE));
    }

    /** The same, but thread {@code i} alone handles the files {@code i}, {@code i + threads} and so on. */
    static Measurement renameDealt(List<Path> from, List<Path> to, int threads) throws Exception {
        long start = System.nanoTime();
        long[] nanos = Lanes.dealt(
                from.size(),
                threads,
                Lanes.PLATFORM,
                i -> Files.move(from.get(i), to.get(i), StandardCopyOption.ATOMIC_MOVE));
        return Measurement.of(from.size(), System.nanoTime() - start, nanos);
    }

    /** Removes all files of the folder, and waits until the folder's names are in the store: fsync(2). */
    static Measurement unlink(List<Path> files, Path folder, int threads) throws Exception {
        long start = System.nanoTime();
        Measurement calls = each(files.size(), threads, i -> Files.delete(files.get(i)));
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
        return each(files.size(), threads, i -> {
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

    private static Measurement each(int count, int threads, Lanes.Operation call) throws Exception {
        long start = System.nanoTime();
        long[] nanos = Lanes.each(count, threads, Lanes.PLATFORM, () -> call);
        return Measurement.of(count, System.nanoTime() - start, nanos);
    }
}
