package io.penstock.fuse.kernel;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

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

    private static long mask(String line) {
        return Long.parseUnsignedLong(line.substring(line.indexOf(':') + 1).strip(), 16);
    }

    private static long bit(int signal) {
        return 1L << (signal - 1);
    }
}
