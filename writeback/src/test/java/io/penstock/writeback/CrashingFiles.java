package io.penstock.writeback;

import io.penstock.disk.DataFile;
import io.penstock.disk.DataFolder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.random.RandomGenerator;

/**
 * A staging folder in memory on a machine that can lose power: any unsynced sector may be lost, and any name created or
 * removed since the folder's last sync may be there or not. It can also be made to fail.
 */
public final class CrashingFiles implements DataFolder {
    public enum Fault {
        NONE,
        /** Every transfer fails. */
        DEAD,
        /** Existing files can be read; nothing can be written. */
        READ_ONLY,
        /** Every transfer that changes something ends with an unexpected exception. */
        UNFORESEEN,
        /** There is no space, as {@link #usableBytes} reports. */
        FULL
    }

    private static final int SECTOR = 512;

    // All guarded by this.
    private final Map<String, Contents> names = new TreeMap<>();
    private final Map<String, Contents> durableNames = new TreeMap<>();
    private int opened;
    private Fault fault = Fault.NONE;
    private int unforeseen;

    /** A file's bytes, and its bytes at the last sync. */
    private static final class Contents {
        byte[] bytes = new byte[0];
        byte[] durable = new byte[0];
    }

    synchronized void set(Fault next) {
        fault = next;
    }

    /** How often {@link Fault#UNFORESEEN} has happened. */
    synchronized int unforeseen() {
        return unforeseen;
    }

    /** Number of open files. */
    synchronized int opened() {
        return opened;
    }

    /** The state that another process finds if this one is killed now. This one continues with its own. */
    synchronized CrashingFiles kill() {
        CrashingFiles after = new CrashingFiles();
        names.forEach((name, contents) -> {
            Contents left = new Contents();
            left.bytes = contents.bytes.clone();
            left.durable = contents.durable.clone();
            after.names.put(name, left);
        });
        after.durableNames.putAll(after.names);
        return after;
    }

    /** The process dies together with the machine: open files become useless. */
    public synchronized CrashingFiles crash(RandomGenerator random) {
        CrashingFiles after = new CrashingFiles();
        for (String name : allNames()) {
            Contents contents = random.nextBoolean() ? names.get(name) : durableNames.get(name);
            if (contents != null) {
                after.names.put(name, afterCrash(contents, random));
            }
        }
        after.durableNames.putAll(after.names);
        names.clear(); // later writes of the old process go nowhere
        return after;
    }

    private Set<String> allNames() {
        Set<String> all = new TreeSet<>(names.keySet());
        all.addAll(durableNames.keySet());
        return all;
    }

    private static Contents afterCrash(Contents contents, RandomGenerator random) {
        Contents left = new Contents();
        int length = random.nextBoolean() ? contents.bytes.length : contents.durable.length;
        left.bytes = new byte[length];
        for (int at = 0; at < length; at += SECTOR) {
            byte[] from = random.nextBoolean() ? contents.bytes : contents.durable;
            int end = Math.min(Math.min(at + SECTOR, length), from.length);
            if (at < end) {
                System.arraycopy(from, at, left.bytes, at, end - at);
            }
        }
        left.durable = left.bytes.clone();
        return left;
    }

    private void reading(String name) throws IOException {
        if (fault == Fault.DEAD) {
            throw new FileSystemException(name, null, "Input/output error");
        }
    }

    private void changing(String name) throws IOException {
        reading(name);
        if (fault == Fault.UNFORESEEN) {
            unforeseen++;
            throw new IllegalStateException(name);
        }
        if (fault == Fault.READ_ONLY) {
            throw new FileSystemException(name, null, "Read-only file system");
        }
    }

    private void writing(String name) throws IOException {
        changing(name);
        if (fault == Fault.FULL) {
            throw new FileSystemException(name, null, "No space left on device");
        }
    }

    @Override
    public synchronized DataFile create(String name) throws IOException {
        writing(name);
        if (names.putIfAbsent(name, new Contents()) != null) {
            throw new FileAlreadyExistsException(name);
        }
        return open(name);
    }

    @Override
    public synchronized DataFile open(String name) throws IOException {
        reading(name);
        Contents contents = names.get(name);
        if (contents == null) {
            throw new NoSuchFileException(name);
        }
        opened++;
        return new File(name, contents);
    }

    @Override
    public void adopt(String name, Path source) {
        throw new UnsupportedOperationException();
    }

    @Override
    public synchronized void forEach(Visitor visitor) throws IOException {
        for (String name : names()) {
            visitor.visit(name);
        }
    }

    @Override
    public synchronized List<String> names() {
        return List.copyOf(names.keySet());
    }

    @Override
    public synchronized void remove(String name) throws IOException {
        changing(name);
        names.remove(name);
    }

    @Override
    public synchronized void rename(String name, String to) throws IOException {
        changing(name);
        Contents contents = names.remove(name);
        if (contents == null) {
            throw new NoSuchFileException(name);
        }
        names.put(to, contents);
    }

    @Override
    public synchronized void force() throws IOException {
        changing("folder");
        durableNames.clear();
        durableNames.putAll(names);
    }

    @Override
    public synchronized long usableBytes() {
        return fault == Fault.FULL ? 0 : 1L << 40;
    }

    @Override
    public Path path(String name) {
        return Path.of("/nowhere", name);
    }

    private final class File implements DataFile {
        private final String name;
        private final Contents contents;
        private boolean closed;

        File(String name, Contents contents) {
            this.name = name;
            this.contents = contents;
        }

        @Override
        public int read(long position, ByteBuffer to) throws IOException {
            synchronized (CrashingFiles.this) {
                reading(name);
                int length = (int) Math.clamp(contents.bytes.length - position, 0L, to.remaining());
                to.put(contents.bytes, (int) position, length);
                return length;
            }
        }

        @Override
        public int readDirect(long position, ByteBuffer to) throws IOException {
            return read(position, to);
        }

        @Override
        public void write(long position, ByteBuffer from) throws IOException {
            synchronized (CrashingFiles.this) {
                writing(name);
                if (closed) {
                    throw new IOException("used after it was closed: " + name);
                }
                int end = Math.toIntExact(position + from.remaining());
                if (contents.bytes.length < end) {
                    contents.bytes = Arrays.copyOf(contents.bytes, end);
                }
                from.get(contents.bytes, (int) position, from.remaining());
            }
        }

        @Override
        public void punch(long position, long length) throws IOException {
            synchronized (CrashingFiles.this) {
                writing(name);
                int end = (int) Math.min(contents.bytes.length, position + length);
                if (position < end) {
                    Arrays.fill(contents.bytes, (int) position, end, (byte) 0);
                }
            }
        }

        @Override
        public void force() throws IOException {
            synchronized (CrashingFiles.this) {
                writing(name);
                contents.durable = contents.bytes.clone();
            }
        }

        @Override
        public long length() throws IOException {
            synchronized (CrashingFiles.this) {
                reading(name);
                return contents.bytes.length;
            }
        }

        @Override
        public void setLength(long bytes) throws IOException {
            synchronized (CrashingFiles.this) {
                writing(name);
                contents.bytes = Arrays.copyOf(contents.bytes, Math.toIntExact(bytes));
            }
        }

        @Override
        public void close() {
            synchronized (CrashingFiles.this) {
                opened -= closed ? 0 : 1;
                closed = true;
            }
        }
    }
}
