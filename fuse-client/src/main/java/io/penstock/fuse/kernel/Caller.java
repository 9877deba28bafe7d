package io.penstock.fuse.kernel;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a waiting program must get EINTR. The kernel sends INTERRUPT for any signal to the program's thread,
 * also for a timer's or a child's, which no program expects to end its open or rename. The thread's pending signals
 * show which signal it was.
 */
final class Caller {
    private static final int SIGHUP = 1;
    private static final int SIGINT = 2;
    private static final int SIGQUIT = 3;
    private static final int SIGKILL = 9;
    private static final int SIGTERM = 15;

    /**
     * Signals by which a user ends or interrupts a program. Any signal that ends it shows as SIGKILL: complete_signal
     * in kernel/signal.c.
     */
    private static final long ENDING = bit(SIGHUP) | bit(SIGINT) | bit(SIGQUIT) | bit(SIGKILL) | bit(SIGTERM);

    // Fields of proc_pid_stat(5), counted from the third.
    private static final int FLAGS = 6;
    private static final int EXIT_CODE = 49;

    private static final int PF_EXITING = 4;

    /** The bits of an exit code that have the signal that ended the process: wait(2). */
    private static final int SIGNAL = 0x7f;

    private Caller() {}

    /**
     * Whether a pending signal of the thread is meant to end or to interrupt its program: then its call must end. The
     * same holds for an unknown thread, such as one of another PID namespace.
     *
     * @param thread its number in this process's PID namespace; 0 if it has none there
     */
    static boolean isToEnd(int thread) {
        String status;
        try {
            // Bytes, because the first line is the program's name: proc_pid_status(5).
            status =
                    Files.readString(Path.of("/proc", Integer.toString(thread), "status"), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return true;
        }
        long pending = 0;
        long blocked = 0;
        for (String line : status.lines().toList()) {
            if (line.startsWith("SigPnd:") || line.startsWith("ShdPnd:")) {
                pending |= mask(line);
            } else if (line.startsWith("SigBlk:")) {
                blocked = mask(line);
            }
        }
        return (pending & ~blocked & ENDING) != 0;
    }

    /**
     * Whether a signal has ended the thread's process, which now closes its files (do_exit in kernel/exit.c): no signal
     * reaches it any more, and nobody reads the results of these closes.
     */
    static boolean isKilled(int thread) {
        if (status(thread, "VmSize:") != null) {
            return false; // it has its memory, so it does not exit; and in an exec, reading more of it would block
        }
        String[] fields = stat(thread);
        return fields.length > EXIT_CODE
                && (Long.parseLong(fields[FLAGS]) & PF_EXITING) != 0
                && (Integer.parseInt(fields[EXIT_CODE]) & SIGNAL) != 0;
    }

    /** The process that the thread's process was forked from; 0 if that is not known. */
    static int parent(int thread) {
        String parent = status(thread, "PPid:");
        return parent == null ? 0 : Integer.parseInt(parent);
    }

    /** A line of proc_pid_status(5), which no exec delays; null if there is none. */
    private static @Nullable String status(int thread, String name) {
        Path status = Path.of("/proc", Integer.toString(thread), "status");
        try {
            return Files.readString(status, StandardCharsets.ISO_8859_1)
                    .lines()
                    .filter(line -> line.startsWith(name))
                    .map(line -> line.substring(name.length()).strip())
                    .findFirst()
                    .orElse(null);
        } catch (IOException e) {
            return null;
        }
    }

    /** The fields of proc_pid_stat(5) from the third on, as the second, a name, may have spaces; none if it has ended. */
    private static String[] stat(int thread) {
        try {
            String line =
                    Files.readString(Path.of("/proc", Integer.toString(thread), "stat"), StandardCharsets.ISO_8859_1);
            return line.substring(line.lastIndexOf(')') + 2).strip().split(" ");
        } catch (IOException e) {
            return new String[0];
        }
    }

    private static long mask(String line) {
        return Long.parseUnsignedLong(line.substring(line.indexOf(':') + 1).strip(), 16);
    }

    private static long bit(int signal) {
        return 1L << (signal - 1);
    }
}
