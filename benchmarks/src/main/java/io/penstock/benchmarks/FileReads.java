package io.penstock.benchmarks;

import io.penstock.tools.measure.Measurement;
import io.penstock.tools.measure.Workers;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** Reads that fio cannot make: plain read calls by platform threads. */
final class FileReads {
    private FileReads() {}

    /**
     * Opens, reads and closes each file once, in the given order.
     *
     * @param size of each file in bytes
     */
    static Measurement whole(List<Path> files, int size, int threads) throws Exception {
        // One extra byte, to detect the end of a file of the right length.
        return Workers.FILES
                .run(
                        threads,
                        files.size(),
                        Workers.NO_LIMIT,
                        size + 1,
                        (file, buffer) -> readWhole(files.get(file), buffer, size))
                .withBytes((long) size * files.size());
    }

    private static void readWhole(Path file, ByteBuffer buffer, int size) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            while (channel.read(buffer) >= 0) {
                if (!buffer.hasRemaining()) {
                    break;
                }
            }
        }
        if (buffer.position() != size) {
            throw new IOException(file + " holds " + buffer.position() + " bytes or more instead of " + size);
        }
    }

    /**
     * Reads each block once, in the given order; each thread has its own descriptors.
     *
     * @param length of each block in bytes
     */
    static Measurement blocks(List<Block> blocks, int length, int threads) throws Exception {
        return parts(blocks, length, length, threads);
    }

    /**
     * Reads each part once, sequentially, in the given order; each thread has its own descriptors.
     *
     * @param length of each part in bytes
     * @param request bytes per read call; divides {@code length}
     */
    static Measurement parts(List<Block> parts, int length, int request, int threads) throws Exception {
        int calls = length / request;
        long[] nanos = new long[parts.size() * calls];
        AtomicInteger next = new AtomicInteger();
        Measurement run = Workers.FILES.run(threads, threads, Workers.NO_LIMIT, request, (_, buffer) -> {
            Map<Path, FileChannel> files = new HashMap<>();
            try {
                for (int i; (i = next.getAndIncrement()) < parts.size(); ) {
                    Block part = parts.get(i);
                    FileChannel file = files.get(part.file());
                    if (file == null) {
                        file = FileChannel.open(part.file(), StandardOpenOption.READ);
                        files.put(part.file(), file);
                    }
                    for (int call = 0; call < calls; call++) {
                        long asked = System.nanoTime();
                        readFully(file, buffer.clear(), part.offset() + (long) call * request);
                        nanos[i * calls + call] = System.nanoTime() - asked;
                    }
                }
            } finally {
                for (FileChannel file : files.values()) {
                    file.close();
                }
            }
        });
        return Measurement.of((long) request * nanos.length, run.nanos(), nanos);
    }

    /** Repeatedly opens a file, gets its attributes, and closes it. Each repetition counts as one byte. */
    static Measurement openStatClose(Path file, int times, int threads) throws Exception {
        return Workers.FILES.run(threads, times, (_, _) -> {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
                if (channel.size() == 0) {
                    throw new EOFException(file + " is empty");
                }
            }
        });
    }

    /** Gets the attributes of each file once, in the given order. Each counts as one byte. */
    static Measurement attributes(List<Path> files, int threads) throws Exception {
        return Workers.FILES.run(
                threads, files.size(), (file, _) -> Files.readAttributes(files.get(file), BasicFileAttributes.class));
    }

    /** A position to read at. */
    record Block(Path file, long offset) {}

    /**
     * Reads a whole file through one descriptor on one thread, as sequential streams in equal parts that take turns.
     *
     * @param visit bytes that a stream reads per turn; divides the file's size by the number of streams
     * @param request bytes per read call; divides {@code visit}
     */
    static Measurement interleaved(Path file, long size, int streams, int visit, int request) throws IOException {
        long part = size / streams;
        long[] nanos = new long[Math.toIntExact(size / request)];
        int reads = 0;
        ByteBuffer buffer = ByteBuffer.allocateDirect(request);
        long start = System.nanoTime();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            for (long turn = 0; turn < part; turn += visit) {
                for (int stream = 0; stream < streams; stream++) {
                    long position = stream * part + turn;
                    for (long end = position + visit; position < end; position += request) {
                        long asked = System.nanoTime();
                        readFully(channel, buffer.clear(), position);
                        nanos[reads++] = System.nanoTime() - asked;
                    }
                }
            }
        }
        return Measurement.of(size, System.nanoTime() - start, nanos);
    }

    private static void readFully(FileChannel channel, ByteBuffer buffer, long position) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer, position + buffer.position()) < 0) {
                throw new EOFException("the file ends before " + (position + buffer.limit()));
            }
        }
    }
}
