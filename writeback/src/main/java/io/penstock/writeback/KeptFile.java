package io.penstock.writeback;

import io.penstock.objectstore.ObjectStoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;

/**
 * The content of a file that could not be committed: somebody else changed the object meanwhile, or access to it was
 * withdrawn. It stays in the staging folder until it is committed or discarded. For one thread at a time.
 */
public final class KeptFile {
    private static final int CHUNK = 1 << 20;

    private final WrittenFile file;
    private final String reason;
    private final String where;

    KeptFile(WrittenFile file, Recovery.Found found) {
        this.file = file;
        this.reason = String.valueOf(found.keptFor());
        this.where = found.staged().where();
    }

    public String key() {
        return file.key();
    }

    /** Bytes. */
    public long size() {
        return file.size();
    }

    public Instant modified() {
        return file.modified();
    }

    /** Why it could not be committed. */
    public String reason() {
        return reason;
    }

    /** The file that holds what was written, at its offsets. */
    public String where() {
        return where;
    }

    /** Makes it the object of its key, whatever that is now. */
    public void commit() throws ObjectStoreException, IOException, InterruptedException {
        file.overwrite();
        file.commit();
    }

    /**
     * Writes the content to a new file in this folder, under the last part of its key, and leaves it where it is.
     *
     * @return the file
     * @throws IOException also if there is a file of this name already
     */
    public Path export(Path folder) throws ObjectStoreException, IOException, InterruptedException {
        String name =
                key().substring(key().lastIndexOf('/', key().length() - 2) + 1).replace('/', '_');
        Path target = Files.createDirectories(folder).resolve(name.equals("..") || name.equals(".") ? "_" : name);
        try (FileChannel to = FileChannel.open(target, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(CHUNK);
            for (long position = 0; position < size(); ) {
                int read = file.read(position, buffer.clear());
                buffer.flip();
                while (buffer.hasRemaining()) {
                    to.write(buffer);
                }
                position += read;
            }
            to.force(true);
        }
        return target;
    }

    /** Removes it for good. */
    public void discard() {
        file.unlink();
        close();
    }

    /** Frees its memory and closes its files, which stay if it has been neither committed nor discarded. */
    void close() {
        file.stop();
    }
}
