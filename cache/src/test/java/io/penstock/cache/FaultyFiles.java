package io.penstock.cache;

import static java.util.Objects.requireNonNull;

import io.penstock.disk.DataFile;
import io.penstock.disk.DataFolder;
import io.penstock.disk.NoHolesException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** Data files on a disk that can be made to fail. */
final class FaultyFiles implements DataFolder {
    enum Fault {
        NONE,
        /** Every transfer fails. */
        DEAD,
        /** What is there can be read; nothing can be written. */
        READ_ONLY,
        /** There is no space, and {@link #usableBytes} says so. */
        FULL,
        /** Transfers fail as nobody foresaw. */
        UNFORESEEN,
        /** Nothing can be removed, nor can a hole be punched. */
        UNREMOVABLE,
        /** Files go as a whole only. */
        NO_HOLES,
        /** How much is free cannot be told. */
        UNMEASURED
    }

    private volatile @Nullable DataFolder files;
    private volatile Fault fault = Fault.NONE;
    private volatile CountDownLatch writesMayGoOn = new CountDownLatch(0);
    private volatile Runnable onMissing = () -> {};
    private volatile Runnable onRead = () -> {};

    DataFolder on(Path directory) throws IOException {
        files = ObjectFiles.in(directory);
        return this;
    }

    private DataFolder files() {
        return requireNonNull(files);
    }

    void set(Fault next) {
        fault = next;
    }

    /** Done by whoever finds that a file is not there, before that is answered. */
    void whenMissing(Runnable action) {
        onMissing = action;
    }

    /** Done by whoever reads a page, before. */
    void whenRead(Runnable action) {
        onRead = action;
    }

    /** Writes from now on hang until {@link #resume}, or until this is counted down. */
    CountDownLatch stall() {
        CountDownLatch resumption = new CountDownLatch(1);
        writesMayGoOn = resumption;
        return resumption;
    }

    void resume() {
        writesMayGoOn.countDown();
    }

    private void reading(String path) throws IOException {
        if (fault == Fault.DEAD) {
            throw new FileSystemException(path, null, "Input/output error");
        }
        if (fault == Fault.UNFORESEEN) {
            throw new IllegalStateException("made up");
        }
    }

    private void writing(String path) throws IOException {
        reading(path);
        try {
            writesMayGoOn.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (fault == Fault.READ_ONLY) {
            throw new FileSystemException(path, null, "Read-only file system");
        }
        if (fault == Fault.FULL) {
            throw new FileSystemException(path, null, "No space left on device");
        }
    }

    private void removing(String path) throws IOException {
        reading(path);
        if (fault == Fault.UNREMOVABLE) {
            throw new FileSystemException(path, null, "Input/output error");
        }
    }

    @Override
    public DataFile open(String name) throws IOException {
        reading("open");
        try {
            return new FaultyFile(files().open(name));
        } catch (NoSuchFileException e) {
            onMissing.run();
            throw e;
        }
    }

    @Override
    public DataFile create(String name) throws IOException {
        writing("create");
        return new FaultyFile(files().create(name));
    }

    @Override
    public void adopt(String name, Path source) throws IOException {
        writing("link");
        files().adopt(name, source);
    }

    @Override
    public void remove(String name) throws IOException {
        removing("remove");
        files().remove(name);
    }

    @Override
    public void rename(String name, String to) throws IOException {
        writing("rename");
        files().rename(name, to);
    }

    @Override
    public void force() throws IOException {
        writing("force");
        files().force();
    }

    @Override
    public void forEach(Visitor names) throws IOException {
        files().forEach(names);
    }

    @Override
    public Path path(String name) {
        return files().path(name);
    }

    @Override
    public long usableBytes() throws IOException {
        if (fault == Fault.UNMEASURED) {
            throw new FileSystemException("free space", null, "Input/output error");
        }
        return fault == Fault.FULL ? 0 : files().usableBytes();
    }

    private final class FaultyFile implements DataFile {
        private final DataFile file;

        FaultyFile(DataFile file) {
            this.file = file;
        }

        @Override
        public int read(long position, ByteBuffer to) throws IOException {
            reading("read");
            onRead.run();
            return file.read(position, to);
        }

        @Override
        public int readDirect(long position, ByteBuffer to) throws IOException {
            reading("read");
            onRead.run();
            return file.readDirect(position, to);
        }

        @Override
        public void write(long position, ByteBuffer from) throws IOException {
            writing("write");
            file.write(position, from);
        }

        @Override
        public void punch(long position, long length) throws IOException {
            removing("punch");
            if (fault == Fault.NO_HOLES) {
                throw new NoHolesException("punch");
            }
            file.punch(position, length);
        }

        @Override
        public void force() throws IOException {
            writing("force");
            file.force();
        }

        @Override
        public long length() throws IOException {
            reading("length");
            return file.length();
        }

        @Override
        public void setLength(long bytes) throws IOException {
            writing("length");
            file.setLength(bytes);
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }
}
