package io.penstock.writeback;

import io.penstock.disk.DataFile;
import io.penstock.disk.DataFolder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** A staging folder that announces each operation, so that a test can hold it there or crash. */
public record WatchedFiles(DataFolder files, Watcher watcher) implements DataFolder {
    public enum Operation {
        CREATE,
        OPEN,
        WRITE,
        PUNCH,
        FORCE,
        RENAME,
        REMOVE
    }

    public interface Watcher {
        void before(Operation operation, String name) throws Exception;
    }

    private void tell(Operation operation, String name) throws IOException {
        try {
            watcher.before(operation, name);
        } catch (IOException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public DataFile create(String name) throws IOException {
        tell(Operation.CREATE, name);
        return new Watched(name, files.create(name));
    }

    @Override
    public DataFile open(String name) throws IOException {
        tell(Operation.OPEN, name);
        return new Watched(name, files.open(name));
    }

    @Override
    public void adopt(String name, Path source) throws IOException {
        files.adopt(name, source);
    }

    @Override
    public void forEach(Visitor names) throws IOException {
        files.forEach(names);
    }

    @Override
    public void remove(String name) throws IOException {
        tell(Operation.REMOVE, name);
        files.remove(name);
    }

    @Override
    public void rename(String name, String to) throws IOException {
        tell(Operation.RENAME, name);
        files.rename(name, to);
    }

    @Override
    public void force() throws IOException {
        tell(Operation.FORCE, "");
        files.force();
    }

    @Override
    public long usableBytes() throws IOException {
        return files.usableBytes();
    }

    @Override
    public Path path(String name) {
        return files.path(name);
    }

    private final class Watched implements DataFile {
        private final String name;
        private final DataFile file;

        Watched(String name, DataFile file) {
            this.name = name;
            this.file = file;
        }

        @Override
        public int read(long position, ByteBuffer to) throws IOException {
            return file.read(position, to);
        }

        @Override
        public int readDirect(long position, ByteBuffer to) throws IOException {
            return file.readDirect(position, to);
        }

        @Override
        public void write(long position, ByteBuffer from) throws IOException {
            tell(Operation.WRITE, name);
            file.write(position, from);
        }

        @Override
        public void punch(long position, long length) throws IOException {
            tell(Operation.PUNCH, name);
            file.punch(position, length);
        }

        @Override
        public void force() throws IOException {
            tell(Operation.FORCE, name);
            file.force();
        }

        @Override
        public long length() throws IOException {
            return file.length();
        }

        @Override
        public void setLength(long bytes) throws IOException {
            file.setLength(bytes);
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }
}
