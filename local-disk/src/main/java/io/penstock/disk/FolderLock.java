package io.penstock.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/** The exclusive right to use a folder, from {@link #take} to {@link #close}, or to the end of the process. */
public final class FolderLock implements AutoCloseable {
    /** The name of the locked file in the folder. */
    public static final String NAME = "lock";

    private final FileChannel file;

    private FolderLock(FileChannel file) {
        this.file = file;
    }

    /** The folder is already locked, by another process or by this one. The message is for the user. */
    public static final class TakenException extends IOException {
        private static final long serialVersionUID = 1L;

        private final String holder;

        TakenException(String message, String holder) {
            super(message);
            this.holder = holder;
        }

        /** The process id of the holder. */
        public String holder() {
            return holder;
        }
    }

    /**
     * @param what the kind of folder, for the message
     * @param advice the end of the message: what to do if it is taken
     * @throws TakenException if another process, or another part of this one, holds it
     */
    public static FolderLock take(Path folder, String what, String advice) throws IOException {
        FileChannel file = FileChannel.open(
                folder.resolve(NAME),
                Set.of(
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE,
                        LinkOption.NOFOLLOW_LINKS),
                PrivateFiles.FILE);
        try {
            if (!tryLock(file)) {
                String holder = holder(file);
                throw new TakenException(
                        "the " + what + " " + folder + " is in use by process " + holder + advice, holder);
            }
            file.truncate(0);
            file.write(StandardCharsets.US_ASCII.encode(ProcessHandle.current().pid() + "\n"), 0);
            return new FolderLock(file);
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    /** Locks the file until it is closed. Returns false if it is locked already. */
    private static boolean tryLock(FileChannel file) throws IOException {
        try {
            FileLock lock = file.tryLock();
            return lock != null;
        } catch (OverlappingFileLockException e) {
            return false; // this process holds it
        }
    }

    private static String holder(FileChannel file) throws IOException {
        ByteBuffer content = ByteBuffer.allocate(32);
        file.read(content, 0);
        return StandardCharsets.US_ASCII.decode(content.flip()).toString().strip();
    }

    /** The file stays: if it were removed, two processes could lock two files of the same name. */
    @Override
    public void close() throws IOException {
        file.close();
    }
}
