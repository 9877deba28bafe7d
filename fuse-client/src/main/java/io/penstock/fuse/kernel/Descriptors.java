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
 * The descriptors with which processes have files of this mount open for writing. The kernel reports each close(2), but
 * not the descriptors that remain: duplicates, and those inherited by a child. proc_pid_fdinfo(5) shows them for
 * processes of the mount's user; descriptors that cannot be seen count as closed.
 *
 * <p>A descriptor leaves the process before its close is sent here (filp_flush in fs/open.c). So of two concurrent
 * closes, at least one finds no descriptor left.
 *
 * <p>Safe for use by any number of threads.
 */
final class Descriptors {
    /** The most descriptors examined per process, because a close waits for this. */
    private static final int MOST = 1024;

    /**
     * An examination is much faster, unless a process is in an exec: that holds a lock (exec_update_lock), which /proc
     * waits for, while it closes descriptors. So this has its own threads: the close of another exec may be waiting.
     */
    private static final Duration LONGEST_LOOK = Duration.ofSeconds(1);

    private static final int OCTAL = 8;
    private static final int O_ACCMODE = 3;
    private static final int O_PATH = 1 << 21;

    private final String device;

    /** The thread that opened each handle, by its number in this process's PID namespace. */
    private final Map<Long, Integer> openers = new ConcurrentHashMap<>();

    private final ExecutorService looks = Executors.newCachedThreadPool(
            Thread.ofPlatform().daemon().name("fuse look ", 0).factory());

    /** @param device the mount's number, {@code major:minor} */
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
     * Whether the file is still open for writing, so that another close will follow: in the closing process, in the one
     * that opened the handle, or in the closing process's parent. Also true for a process that a signal has ended, and
     * that closes its files because of that: it must not wait for a commit, and the handle's end commits the file.
     *
     * @param thread the closing thread
     * @param path the file's path from the mount's root; null if it has none
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
                // Reading its path costs much less than reading its flags.
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

    /** Whether it is a file that may have this name, even if the file was removed. */
    private static boolean isNamed(Path descriptor, String name) {
        try {
            String path = Files.readSymbolicLink(descriptor).toString();
            return path.startsWith("/") && (path.endsWith(name) || path.endsWith(" (deleted)"));
        } catch (IOException e) {
            return false; // closed since
        }
    }

    private boolean isOpen(int thread, Path descriptor, long inode) throws IOException {
        String info;
        try {
            info = Files.readString(descriptor, US_ASCII);
        } catch (IOException e) {
            return false; // closed since
        }
        int flags = 0;
        int mount = 0;
        boolean isOfInode = false; // not shown before Linux 5.14
        for (String line : info.lines().toList()) {
            int colon = line.indexOf(':');
            String value = line.substring(colon + 1).strip();
            switch (line.substring(0, Math.max(colon, 0))) {
                case "flags" -> flags = Integer.parseInt(value, OCTAL);
                case "mnt_id" -> mount = Integer.parseInt(value);
                case "ino" -> isOfInode = Long.parseUnsignedLong(value) == inode;
                default -> {} // for other kinds of files
            }
        }
        return isOfInode
                && (flags & O_ACCMODE) != 0
                && (flags & O_PATH) == 0
                && MountTable.device(thread, mount).filter(device::equals).isPresent();
    }
}
