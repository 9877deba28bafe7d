package io.penstock.it;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A program that writes its own files, one after the other, until its mount dies. It knows at any time which of them
 * must have which content after a crash. For one thread at a time.
 */
final class CrashWriter {
    private static final int KIB = 1 << 10;
    private static final int MIB = 1 << 20;
    private static final int SMALL_FILES = 4;
    private static final int WRITE = 1 << 18;

    private final String name;
    private final RandomGenerator random;

    /** By name. */
    private final Map<String, Expected> manifest = new TreeMap<>();

    private int acknowledged;

    CrashWriter(String name, RandomGenerator random) {
        this.name = name;
        this.random = random;
    }

    /** The known states of one file. A null content means that there is no file. */
    private static final class Expected {
        /** The content after the last fsync, close, rename or removal that returned. */
        private byte @Nullable [] durable;

        /** The content that a call in flight would produce, which may have succeeded. */
        private final List<byte @Nullable []> possible = new ArrayList<>();

        /** The content with later writes applied: each of their bytes may be present or not. */
        private byte @Nullable [] written;

        private boolean isRight(byte @Nullable [] actual) {
            return Arrays.equals(actual, durable)
                    || possible.stream().anyMatch(content -> Arrays.equals(actual, content))
                    || isMixed(actual);
        }

        private boolean isMixed(byte @Nullable [] actual) {
            byte[] before = durable;
            byte[] after = written;
            if (actual == null || before == null || after == null || actual.length != before.length) {
                return false;
            }
            for (int i = 0; i < actual.length; i++) {
                if (actual[i] != before[i] && (i >= after.length || actual[i] != after[i])) {
                    return false;
                }
            }
            return true;
        }

        private void is(byte @Nullable [] content) {
            durable = content;
            possible.clear();
            written = null;
        }

        private String describe(byte @Nullable [] actual) {
            String found = "found " + size(actual) + ", must be " + size(durable);
            byte[] right = durable;
            if (actual != null && right != null) {
                found += ", differs at " + Arrays.mismatch(actual, right);
            }
            for (byte[] other : possible) {
                found += ", or " + size(other)
                        + (actual == null || other == null ? "" : ", differs at " + Arrays.mismatch(actual, other));
            }
            return found + (written == null ? "" : ", or written in place");
        }

        private static String size(byte @Nullable [] content) {
            return content == null ? "no file" : content.length + " bytes";
        }
    }

    /** The number of calls that have returned with a promise. */
    int acknowledged() {
        return acknowledged;
    }

    /** Writes until a call fails, which is only allowed because the mount is gone. */
    IOException writeUntilKilled(Path mountPoint) {
        while (true) {
            try {
                writeOnce(mountPoint);
            } catch (IOException killed) {
                return killed;
            }
        }
    }

    private void writeOnce(Path mountPoint) throws IOException {
        Path folder = Files.createDirectories(mountPoint.resolve(name));
        Path small = folder.resolve("small-" + random.nextInt(SMALL_FILES));
        Path large = folder.resolve("large");
        switch (random.nextInt(10)) {
            case 0, 1, 2 -> replace(small, content(random.nextInt(1, 300 * KIB)));
            case 3 -> replace(folder.resolve("medium"), content(random.nextInt(5 * MIB, 11 * MIB)));
            case 4 -> replace(large, content(random.nextInt(20 * MIB, 60 * MIB)));
            case 5 -> append(random.nextBoolean() ? small : large);
            case 6 -> overwrite(random.nextBoolean() ? small : large);
            case 7 -> cut(random.nextBoolean() ? small : large);
            case 8 -> save(folder, small);
            default -> remove(small);
        }
    }

    private byte[] content(int size) {
        byte[] bytes = new byte[size];
        random.nextBytes(bytes);
        return bytes;
    }

    private Expected expected(Path file) {
        return manifest.computeIfAbsent(file.getFileName().toString(), _ -> new Expected());
    }

    /** A call that makes a promise. */
    private interface Promise {
        void call() throws IOException;
    }

    private void promise(Expected file, byte @Nullable [] content, Promise promise) throws IOException {
        file.possible.add(content);
        promise.call();
        file.is(content);
        acknowledged++;
    }

    private void replace(Path file, byte[] bytes) throws IOException {
        Expected expected = expected(file);
        FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE);
        try (channel) {
            int synced = random.nextInt(3) == 0 ? random.nextInt(bytes.length) : 0;
            write(channel, bytes, 0, synced);
            if (synced > 0) {
                promise(expected, Arrays.copyOf(bytes, synced), () -> channel.force(true));
            }
            write(channel, bytes, synced, bytes.length);
            if (random.nextBoolean()) {
                promise(expected, bytes, () -> channel.force(true));
            }
            promise(expected, bytes, channel::close);
        }
    }

    private static void write(FileChannel to, byte[] bytes, int from, int end) throws IOException {
        for (int at = from; at < end; at += WRITE) {
            ByteBuffer buffer = ByteBuffer.wrap(bytes, at, Math.min(WRITE, end - at));
            long position = at;
            while (buffer.hasRemaining()) {
                position += to.write(buffer, position);
            }
        }
    }

    private void append(Path file) throws IOException {
        Expected expected = expected(file);
        byte[] before = expected.durable;
        if (before == null || before.length > 60 * MIB) {
            return;
        }
        byte[] more = content(random.nextInt(1, 2 * MIB));
        byte[] after = Arrays.copyOf(before, before.length + more.length);
        System.arraycopy(more, 0, after, before.length, more.length);
        FileChannel channel = FileChannel.open(file, StandardOpenOption.APPEND);
        try (channel) {
            ByteBuffer buffer = ByteBuffer.wrap(more);
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
            if (random.nextBoolean()) {
                promise(expected, after, () -> channel.force(false));
            }
            promise(expected, after, channel::close);
        }
    }

    private void overwrite(Path file) throws IOException {
        Expected expected = expected(file);
        byte[] before = expected.durable;
        if (before == null || before.length == 0) {
            return;
        }
        FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
        try (channel) {
            byte[] after = change(channel, before, expected);
            if (random.nextBoolean()) {
                promise(expected, after, () -> channel.force(true));
                after = change(channel, after, expected);
            }
            promise(expected, after, channel::close);
        }
    }

    /** Some changes, each written in its final form, so that each byte has at most one new value. */
    private byte[] change(FileChannel channel, byte[] before, Expected expected) throws IOException {
        byte[] after = before.clone();
        int changes = random.nextInt(1, 6);
        int[] starts = new int[changes];
        int[] ends = new int[changes];
        for (int i = 0; i < changes; i++) {
            byte[] some = content(random.nextInt(1, Math.min(before.length, 300 * KIB) + 1));
            starts[i] = random.nextInt(before.length - some.length + 1);
            ends[i] = starts[i] + some.length;
            System.arraycopy(some, 0, after, starts[i], some.length);
        }
        expected.written = after;
        for (int i = 0; i < changes; i++) {
            write(channel, after, starts[i], ends[i]);
        }
        return after;
    }

    private void cut(Path file) throws IOException {
        Expected expected = expected(file);
        byte[] before = expected.durable;
        if (before == null) {
            return;
        }
        int size = random.nextInt(before.length + 1);
        FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
        try (channel) {
            channel.truncate(size);
            promise(expected, Arrays.copyOf(before, size), channel::close);
        }
    }

    /** As editors do. */
    private void save(Path folder, Path file) throws IOException {
        Path draft = folder.resolve("draft");
        byte[] bytes = content(random.nextInt(1, 300 * KIB));
        replace(draft, bytes);
        Expected target = expected(file);
        Expected source = expected(draft);
        target.possible.add(bytes);
        source.possible.add(null);
        Files.move(draft, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        target.is(bytes);
        source.is(null);
        acknowledged++;
    }

    private void remove(Path file) throws IOException {
        Expected expected = expected(file);
        if (expected.durable != null) {
            promise(expected, null, () -> Files.delete(file));
        }
    }

    /**
     * Compares the files with their possible states, and considers the state found durable from now on.
     *
     * @param folder any folder that has the files
     */
    void verify(Path folder) throws IOException {
        for (Map.Entry<String, Expected> entry : manifest.entrySet()) {
            Path file = folder.resolve(name).resolve(entry.getKey());
            byte[] actual;
            try {
                actual = Files.readAllBytes(file);
            } catch (NoSuchFileException e) {
                actual = null;
            } catch (IOException e) {
                String there = Program.shell(folder, "ls -la \"$1\"; stat \"$2\"", folder.resolve(name), file)
                        .out();
                throw new AssertionError(file + " cannot be read: " + e + "; " + there, e);
            }
            Expected expected = entry.getValue();
            if (!expected.isRight(actual)) {
                throw new AssertionError(file + ": " + expected.describe(actual));
            }
            expected.is(actual);
        }
    }
}
