package io.penstock.cache;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongPredicate;

/** Data files that have a length but no bytes: for tests of what is stored where so much of it matters. */
final class NoFiles implements StoreFiles {
    /** Lengths by name. */
    private final Map<Long, Long> lengths = new ConcurrentHashMap<>();

    @Override
    public DataFile open(long name) throws IOException {
        Long length = lengths.get(name);
        if (length == null) {
            throw new NoSuchFileException(Long.toHexString(name));
        }
        return new NoFile(length);
    }

    @Override
    public DataFile create(long name, long length) {
        lengths.put(name, length);
        return new NoFile(length);
    }

    @Override
    public void adopt(long name, Path source) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void remove(long name) {
        lengths.remove(name);
    }

    @Override
    public Path path(long name) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void removeUnknown(LongPredicate known) {
        lengths.keySet().removeIf(name -> !known.test(name));
    }

    @Override
    public long usableBytes() {
        return Long.MAX_VALUE / 2;
    }

    private record NoFile(long length) implements DataFile {
        @Override
        public int read(long position, ByteBuffer to) {
            int count = to.remaining();
            to.position(to.limit());
            return count;
        }

        @Override
        public int readPage(long position, ByteBuffer to) {
            return read(position, to);
        }

        @Override
        public void write(long position, ByteBuffer from) {
            from.position(from.limit());
        }

        @Override
        public void punch(long position, long bytes) {
            // there is nothing to free
        }

        @Override
        public void force() {
            // there is nothing to lose
        }

        @Override
        public void setLength(long bytes) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {
            // there is nothing open
        }
    }
}
