package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SplittableRandom;

/** Incompressible bytes that depend only on a name and a position. */
final class RandomBytes {
    private static final int CHUNK = 8 << 20;

    private RandomBytes() {}

    static byte[] of(String name, long offset, int length) {
        byte[] bytes = new byte[length];
        new SplittableRandom(name.hashCode() * 31L + offset).nextBytes(bytes);
        return bytes;
    }

    /** Writes a file of this many bytes, and creates its folder. */
    static void write(Path file, String name, long size) throws IOException {
        Files.createDirectories(file.resolveSibling("."));
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            for (long offset = 0; offset < size; offset += CHUNK) {
                ByteBuffer chunk = ByteBuffer.wrap(of(name, offset, (int) Math.min(CHUNK, size - offset)));
                while (chunk.hasRemaining()) {
                    channel.write(chunk);
                }
            }
        }
    }
}
