package io.penstock.fuse.kernel;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.penstock.fuse.MountTable;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

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

    /**
     * A look takes much less, unless a process is in an exec: that holds a lock (exec_update_lock) which /proc waits for, and
     * holds it while it closes descriptors. So looks have threads of their own: the close of another exec may be waiting.
     */
    private static final Duration LONGEST_LOOK = Duration.ofSeconds(1);

    private static final int OCTAL = 8;
    private static final int O_ACCMODE = 3;
    private static final int O_PATH = 1 << 21;

    private final String device;

    /** The thread that has opened each handle, by its number in this process's PID namespace. */
    private final Map<Long, Integer> openers = new ConcurrentHashMap<>();

    private final ExecutorService looks = Executors.newCachedThreadPool(
            Thread.ofPlatform().daemon().name("fuse look ", 0).factory());

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
     * Whether the file is still open for writing in the process that closes a descriptor of the handle, in the one that has
     * opened it, or in the one that the closing process was forked from: its own close is yet to come. A process that a
     * signal has ended, and that closes its files by that, counts as one that has it open: it must not wait for a commit,
     * and the end of the handle brings that.
     *
     * @param thread the one that closes
     * @param path the file's, from the mount's root; null if it has none
     */
    boolean areLeft(long handle, int thread, long inode, @Nullable String path) {
        String name = path == null ? "" : path.substring(path.lastIndexOf('/'));
        Integer opener = openers.get(handle);
        return Caller.isKilled(thread)
                || Caller.isInExec(thread)
                || CompletableFuture.supplyAsync(
                                () -> isOpen(thread, inode, name)
                                        || (opener != null && isOpenElsewhere(opener, thread, inode, name)),
                                looks)
                        .completeOnTimeout(true, LONGEST_LOOK.toMillis(), TimeUnit.MILLISECONDS)
                        .join();
    }

    private boolean isOpenElsewhere(int opener, int thread, long inode, String name) {
        return !Files.exists(Path.of("/proc", Integer.toString(thread), "task", Integer.toString(opener)))
                && (isOpen(opener, inode, name) || isOpen(Caller.parent(thread), inode, name));
    }

    private boolean isOpen(int thread, long inode, String name) {
        Path process = Path.of("/proc", Integer.toString(thread));
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(process.resolve("fd"))) {
            int seen = 0;
            for (Path descriptor : descriptors) {
                if (++seen > MOST) {
                    return false;
                }
                // Its path costs much less than its flags.
                if (isNamed(descriptor, name)
                        && isOpen(thread, process.resolve("fdinfo").resolve(descriptor.getFileName()), inode)) {
                    return true;
                }
            }
            return false;
        } catch (IOException | DirectoryIteratorException e) {
            return false; // the process has ended, or belongs to another user
        }
    }

    /** Whether it is a file that may have this name; also after it was removed. */
    private static boolean isNamed(Path descriptor, String name) {
        try {
            String path = Files.readSymbolicLink(descriptor).toString();
            return path.startsWith("/") && (path.endsWith(name) || path.endsWith(" (deleted)"));
        } catch (IOException e) {
            return false; // closed in between
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
