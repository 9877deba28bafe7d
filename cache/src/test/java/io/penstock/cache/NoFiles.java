package io.penstock.cache;

import io.penstock.disk.DataFile;
import io.penstock.disk.DataFolder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Data files with a length but no bytes, for tests of what a large cache stores. */
final class NoFiles implements DataFolder {
    /** Lengths by name. */
    private final Map<String, Long> lengths = new ConcurrentHashMap<>();

    @Override
    public DataFile open(String name) throws IOException {
        Long length = lengths.get(name);
        if (length == null) {
            throw new NoSuchFileException(name);
        }
        return new NoFile(name, length);
    }

    @Override
    public DataFile create(String name) {
        lengths.put(name, 0L);
        return new NoFile(name, 0);
    }

    @Override
    public void adopt(String name, Path source) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void remove(String name) {
        lengths.remove(name);
    }

    @Override
    public Path path(String name) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void rename(String name, String to) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void force() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void forEach(Visitor names) throws IOException {
        for (String name : lengths.keySet()) {
            names.visit(name);
        }
    }

    @Override
    public long usableBytes() {
        return Long.MAX_VALUE / 2;
    }

    private final class NoFile implements DataFile {
        private final String name;
        private final long length;

        NoFile(String name, long length) {
            this.name = name;
            this.length = length;
        }

        @Override
        public int read(long position, ByteBuffer to) {
            int count = to.remaining();
            to.position(to.limit());
            return count;
        }

        @Override
        public int readDirect(long position, ByteBuffer to) {
            return read(position, to);
        }

        @Override
        public void write(long position, ByteBuffer from) {
            from.position(from.limit());
        }

        @Override
        public void punch(long position, long bytes) {
            // nothing to free
        }

        @Override
        public void force() {
            // nothing to lose
        }

        @Override
        public long length() {
            return length;
        }

        @Override
        public void setLength(long bytes) {
            lengths.put(name, bytes);
        }

        @Override
        public void close() {
            // nothing is open
        }
    }
}
