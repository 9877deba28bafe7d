package io.penstock.benchmarks;

import io.penstock.tools.measure.Measurement;
import io.penstock.tools.measure.Workers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;

/** Writes with plain calls by platform threads; a measurement ends when the last close has returned. */
final class FileWrites {
    /** Bytes per write call of a sequential writer, unless another size is given. */
    static final int CALL = 1 << 20;

    /** Longer than a part, so that no two parts of a file are equal. */
    private static final int PATTERN = 61 << 20;

    private FileWrites() {}

    /** The last call before a file is closed. */
    enum End {
        CLOSE,
        FDATASYNC
    }

    /** Writes each file sequentially, one thread per file; an operation is a call, including the close. */
    static Measurement sequential(List<Path> files, long size, End end) throws Exception {
        return sequential(files, size, CALL, end);
    }

    /** @param length bytes per call; divides the size */
    static Measurement sequential(List<Path> files, long size, int length, End end) throws Exception {
        ByteBuffer pattern = ByteBuffer.allocateDirect(PATTERN).put(RandomBytes.of("pattern", 0, PATTERN));
        int calls = (int) (size / length) + 1;
        long[] nanos = new long[files.size() * calls];
        Measurement run = Workers.FILES.run(files.size(), files.size(), (file, _) -> {
            ByteBuffer source = pattern.duplicate();
            FileChannel channel = FileChannel.open(
                    files.get(file),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING,
                    StandardOpenOption.WRITE);
            long begun = System.nanoTime();
            int call = file * calls;
            try (channel) {
                for (long position = 0; position < size; position += length) {
                    int from = (int) (position % (PATTERN - length)) + file;
                    writeAll(channel, source.limit(from + length).position(from));
                    nanos[call++] = -begun + (begun = System.nanoTime());
                }
                if (end == End.FDATASYNC) {
                    channel.force(false);
                }
            }
            nanos[call] = System.nanoTime() - begun;
        });
        return Measurement.of(size * files.size(), run.nanos(), nanos);
    }

    /** Rewrites a file sequentially, again and again until {@code over}; counts the calls that returned before. */
    static Measurement until(BooleanSupplier over, Path file, long size) throws IOException {
        ByteBuffer content = ByteBuffer.allocateDirect(CALL).put(RandomBytes.of("burst", 0, CALL));
        LongStream.Builder nanos = LongStream.builder();
        long start = System.nanoTime();
        long begun = start;
        long end = start;
        while (!over.getAsBoolean()) {
            FileChannel channel = FileChannel.open(
                    file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE);
            try (channel) {
                for (long position = 0; position < size && !over.getAsBoolean(); position += CALL) {
                    writeAll(channel, content.clear());
                    end = System.nanoTime();
                    nanos.add(end - begun);
                    begun = end;
                }
            }
        }
        long[] calls = nanos.build().toArray();
        return Measurement.of((long) calls.length * CALL, end - start, calls);
    }

    /** Creates each file with one write, by this many threads; an operation is a file. */
    static Measurement whole(List<Path> files, int size, int threads) throws Exception {
        ByteBuffer content = ByteBuffer.allocateDirect(size).put(RandomBytes.of("small", 0, size));
        return Workers.FILES
                .run(threads, files.size(), (file, _) -> {
                    try (FileChannel channel =
                            FileChannel.open(files.get(file), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                        writeAll(channel, content.duplicate().clear());
                    }
                })
                .withBytes((long) size * files.size());
    }

    /** Overwrites random blocks of a file, and closes it; an operation is a call, including the close. */
    static Measurement random(Path file, long size, int length, int count) throws Exception {
        long[] nanos = new long[count + 1];
        Measurement run = Workers.FILES.run(1, 1, (_, _) -> {
            ByteBuffer content = ByteBuffer.allocateDirect(length).put(RandomBytes.of("random", 0, length));
            SplittableRandom random = new SplittableRandom(1);
            FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
            long begun = System.nanoTime();
            try (channel) {
                for (int i = 0; i < count; i++) {
                    channel.write(content.clear(), random.nextLong(size / length) * length);
                    nanos[i] = -begun + (begun = System.nanoTime());
                }
            }
            nanos[count] = System.nanoTime() - begun;
        });
        return Measurement.of((long) length * count, run.nanos(), nanos);
    }

    static void writeAll(FileChannel channel, ByteBuffer content) throws IOException {
        while (content.hasRemaining()) {
            channel.write(content);
        }
    }
}
