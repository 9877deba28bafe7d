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

/** The right to use a folder alone, from {@link #take} to {@link #close}, or to the end of the process. */
public final class FolderLock implements AutoCloseable {
    /** Of the file that is locked, in the folder. */
    public static final String NAME = "lock";

    private final FileChannel file;

    private FolderLock(FileChannel file) {
        this.file = file;
    }

    /** Another process, or this one, has locked it. The message is fit for the user. */
    public static final class TakenException extends IOException {
        private static final long serialVersionUID = 1L;

        private final String holder;

        TakenException(String message, String holder) {
            super(message);
            this.holder = holder;
        }

        /** The number of the process that has it. */
        public String holder() {
            return holder;
        }
    }

    /**
     * @param what kind of folder it is, for the message
     * @param advice for the end of the message: what to do if it is taken
     * @throws TakenException if another process, or something else in this one, has it
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

    /** Locks it until it is closed. False if it is locked already. */
    private static boolean tryLock(FileChannel file) throws IOException {
        try {
            FileLock lock = file.tryLock();
            return lock != null;
        } catch (OverlappingFileLockException e) {
            return false; // this very process has it
        }
    }

    private static String holder(FileChannel file) throws IOException {
        ByteBuffer content = ByteBuffer.allocate(32);
        file.read(content, 0);
        return StandardCharsets.US_ASCII.decode(content.flip()).toString().strip();
    }

    /** The file stays: removing it would let two processes lock two files of one name. */
    @Override
    public void close() throws IOException {
        file.close();
    }
}
