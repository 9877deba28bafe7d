package io.penstock.fuse.kernel;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.penstock.fuse.MountTable;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The descriptors with which processes have files of this mount open for writing. The kernel tells of each close(2),
 * and not of those that are left: duplicates, and those that a child has inherited. proc_pid_fdinfo(5) shows these, of
 * processes that belong to the mount's user; what cannot be seen counts as closed.
 *
 * <p>A close takes its descriptor out of the process before it is sent here (filp_flush in fs/open.c). So of two at the same
 * time at least one finds nothing left.
 *
 * <p>Safe for use by any number of threads.
 */
final class Descriptors {
    /** Of a process with more of them no more are looked at: a close waits for this. */
    private static final int MOST = 1024;

    private static final int OCTAL = 8;
    private static final int O_ACCMODE = 3;
    private static final int O_PATH = 1 << 21;

    private final String device;

    /** The thread that has opened each handle, by its number in this process's PID namespace. */
    private final Map<Long, Integer> openers = new ConcurrentHashMap<>();

    /** @param device the mount's, {@code major:minor} */
    Descriptors(String device) {
        this.device = device;
    }

    /** A handle was opened for writing. */
    void opened(long handle, int thread) {
        openers.put(handle, thread);
    }

    void released(long handle) {
        openers.remove(handle);
    }

    /**
     * Whether the process that closes a descriptor of the handle, or the one that has opened it, has the file open for
     * writing still: its own close is yet to come.
     *
     * @param thread the one that closes
     */
    boolean areLeft(long handle, int thread, long inode) {
        Integer opener = openers.get(handle);
        return isOpen(thread, inode) || (opener != null && opener != thread && isOpen(opener, inode));
    }

    private boolean isOpen(int thread, long inode) {
        Path all = Path.of("/proc", Integer.toString(thread), "fdinfo");
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(all)) {
            int seen = 0;
            for (Path descriptor : descriptors) {
                if (++seen > MOST) {
                    return false;
                }
                if (isOpen(thread, descriptor, inode)) {
                    return true;
                }
            }
            return false;
        } catch (IOException | DirectoryIteratorException e) {
            return false; // the process has ended, or belongs to another user
        }
    }

    private boolean isOpen(int thread, Path descriptor, long inode) throws IOException {
        String info;
        try {
            info = Files.readString(descriptor, US_ASCII);
        } catch (IOException e) {
            return false; // closed in between
        }
        int flags = 0;
        int mount = 0;
        boolean isOfInode = false; // older kernels than Linux 5.14 do not tell
        for (String line : info.lines().toList()) {
            int colon = line.indexOf(':');
            String value = line.substring(colon + 1).strip();
            switch (line.substring(0, Math.max(colon, 0))) {
                case "flags" -> flags = Integer.parseInt(value, OCTAL);
                case "mnt_id" -> mount = Integer.parseInt(value);
                case "ino" -> isOfInode = Long.parseUnsignedLong(value) == inode;
                default -> {} // of other kinds of files
            }
        }
        return isOfInode
                && (flags & O_ACCMODE) != 0
                && (flags & O_PATH) == 0
                && MountTable.device(thread, mount).filter(device::equals).isPresent();
    }
}
