package io.penstock.fuse.kernel;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Decides whether a waiting program must get EINTR. The kernel sends INTERRUPT for any signal to the program's thread,
 * even for those of a timer or a child, which no program expects to end its open or rename. The thread's pending
 * signals show which signal it was.
 */
final class Caller {
    private static final int SIGHUP = 1;
    private static final int SIGINT = 2;
    private static final int SIGQUIT = 3;
    private static final int SIGKILL = 9;
    private static final int SIGTERM = 15;

    /**
     * Signals with which a user ends or interrupts a program. Any signal that ends the program shows as SIGKILL:
     * complete_signal in kernel/signal.c.
     */
    private static final long ENDING = bit(SIGHUP) | bit(SIGINT) | bit(SIGQUIT) | bit(SIGKILL) | bit(SIGTERM);

    // Fields of proc_pid_stat(5), counted from the third.
    private static final int FLAGS = 6;
    private static final int EXIT_CODE = 49;

    private static final int PF_EXITING = 4;

    /** The bits of an exit code that hold the signal that ended the process: wait(2). */
    private static final int SIGNAL = 0x7f;

    private Caller() {}

    /**
     * Whether a pending signal of the thread is meant to end or interrupt its program: then its call must end. Also
     * true for an unknown thread, such as one of another PID namespace.
     *
     * @param thread its number in this process's PID namespace; 0 if it has none there
     */
    static boolean isToEnd(int thread) {
        Map<String, String> status = status(thread);
        long pending = mask(status, "SigPnd") | mask(status, "ShdPnd");
        return status.isEmpty() || (pending & ~mask(status, "SigBlk") & ENDING) != 0;
    }

    /**
     * Whether a signal has ended the thread's process, which now closes its files (do_exit in kernel/exit.c): no more
     * signals reach it, and nobody reads the results of these closes.
     */
    static boolean isKilled(int thread) {
        if (status(thread).containsKey("VmSize")) {
            return false; // it has its memory, so it is not exiting; and during an exec, reading more of it would block
        }
        try { // the second field, a name, may contain spaces
            String stat = Files.readString(file(thread, "stat"), StandardCharsets.ISO_8859_1);
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).strip().split(" ", -1);
            return (Long.parseLong(fields[FLAGS]) & PF_EXITING) != 0
                    && (Integer.parseInt(fields[EXIT_CODE]) & SIGNAL) != 0;
        } catch (IOException e) {
            return false; // it has ended
        }
    }

    /** Whether it is in an exec, and closes files because of that: it has new memory, with no program in it yet. */
    static boolean isInExec(int thread) {
        return "0 kB".equals(status(thread).get("VmExe"));
    }

    /** The process that forked the thread's process; 0 if unknown. */
    static int parent(int thread) {
        return Integer.parseInt(status(thread).getOrDefault("PPid", "0"));
    }

    /** proc_pid_status(5), which no exec delays, by field name; empty if there is no such thread. */
    private static Map<String, String> status(int thread) {
        try (Stream<String> lines = Files.lines(file(thread, "status"), StandardCharsets.ISO_8859_1)) {
            return lines.map(line -> line.split(":", 2))
                    .collect(Collectors.toMap(field -> field[0], field -> field[1].strip(), (first, _) -> first));
        } catch (IOException | UncheckedIOException e) {
            return Map.of();
        }
    }

    private static Path file(int thread, String name) {
        return Path.of("/proc", Integer.toString(thread), name);
    }

    private static long mask(Map<String, String> status, String name) {
        return Long.parseUnsignedLong(status.getOrDefault(name, "0"), 16);
    }

    private static long bit(int signal) {
        return 1L << (signal - 1);
    }
}
