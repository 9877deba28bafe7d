package io.penstock.tools.measure;

import io.penstock.core.NativeMemory;
import io.penstock.disk.DirectIo;
import io.penstock.disk.LocalFile;
import io.penstock.disk.NoHolesException;
import io.penstock.disk.PrivateFiles;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * A temporary file that shows the speed and the features of a disk. It is unlinked right after it is opened, so a
 * process that is killed later leaves nothing behind. Confined to one thread.
 */
public final class DiskTrial implements AutoCloseable {
    /**
     * The speed of a disk, past the kernel's page cache.
     *
     * @param writeMib MiB/s of sequential writes
     * @param readMib MiB/s of sequential reads
     * @param randomReads reads of 4 KiB a second, {@link DiskTrial#READERS} at a time
     * @param randomP99 the 99th percentile of their latency
     */
    public record Speed(double writeMib, double readMib, double randomReads, Duration randomP99) {}

    /** Threads that read at random. */
    public static final int READERS = 16;

    private static final int PIECE = 4 << 20;
    private static final long LARGEST = 256L << 20;

    /** A smaller file says nothing about a disk. */
    private static final long SMALLEST = 32L << 20;

    private static final Duration EACH = Duration.ofMillis(1500);

    private final boolean direct;
    private final boolean holes;
    private final LocalFile file;
    private final ByteBuffer piece = NativeMemory.allocate(NativeMemory.Share.PAGES, PIECE, DirectIo.ALIGNMENT);

    /**
     * The features of a file system.
     *
     * @param direct whether files can be opened for direct I/O
     * @param holes whether space within a file can be freed
     * @param speed null if it was not measured
     */
    public record Outcome(
            boolean direct, boolean holes, @Nullable Speed speed) {}

    /** @param folder an existing one that can be written to */
    public DiskTrial(Path folder) throws IOException {
        Path own = Files.createTempDirectory(folder, ".penstock-trial-");
        try {
            direct = DirectIo.isSupported(own);
            Path path = own.resolve("trial");
            PrivateFiles.create(path);
            try {
                file = new LocalFile(path, direct);
                file.write(0, piece.clear().limit(DirectIo.ALIGNMENT)); // opens everything needed
                holes = punches(file);
            } finally {
                Files.delete(path);
            }
        } finally {
            Files.delete(own);
        }
    }

    private static boolean punches(LocalFile file) throws IOException {
        try {
            file.punch(0, DirectIo.ALIGNMENT);
            return true;
        } catch (NoHolesException e) {
            return false;
        }
    }

    /** @param most the most bytes to write; below {@link #SMALLEST} nothing is measured */
    public Outcome run(long most) throws IOException, InterruptedException {
        // Without direct I/O it would be the speed of the kernel's page cache.
        return new Outcome(direct, holes, direct && most >= SMALLEST ? measure(Math.min(most, LARGEST)) : null);
    }

    private Speed measure(long most) throws IOException, InterruptedException {
        long began = System.nanoTime();
        long size = 0;
        ThreadLocalRandom.current().ints(PIECE / Integer.BYTES).forEach(piece.clear()::putInt); // no disk compresses it
        while (size + PIECE <= most && (size < SMALLEST || isIn(EACH, began))) {
            file.write(size, piece.clear());
            size += PIECE;
        }
        file.force();
        double writeMib = mibPerSecond(size, began);

        began = System.nanoTime();
        long read = 0;
        while (read < size && isIn(EACH, began)) {
            file.readDirect(read, piece.clear());
            read += PIECE;
        }
        double readMib = mibPerSecond(read, began);
        return random(size / DirectIo.ALIGNMENT, writeMib, readMib);
    }

    private Speed random(long blocks, double writeMib, double readMib) throws IOException, InterruptedException {
        Measurement reads;
        try {
            reads = Workers.FILES.run(
                    READERS,
                    Integer.MAX_VALUE,
                    EACH,
                    DirectIo.ALIGNMENT,
                    (_, block) ->
                            file.readDirect(ThreadLocalRandom.current().nextLong(blocks) * DirectIo.ALIGNMENT, block));
        } catch (ObjectStoreException | RefusedException e) {
            throw new IllegalStateException("unexpected failure of a read", e);
        }
        return new Speed(writeMib, readMib, reads.operationsPerSecond(), Duration.ofNanos(reads.p99Nanos()));
    }

    private static boolean isIn(Duration time, long began) {
        return System.nanoTime() - began < time.toNanos();
    }

    private static double mibPerSecond(long bytes, long began) {
        return bytes / (double) (1 << 20) / ((System.nanoTime() - began) / 1e9);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
