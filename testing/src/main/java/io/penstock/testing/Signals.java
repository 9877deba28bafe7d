package io.penstock.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What this process, and so whoever is started by it, was told to do with signals. */
public final class Signals {
    private Signals() {}

    /**
     * Whether the signal is ignored, as SIGHUP is under nohup, and SIGINT in the background of a shell.
     *
     * @param number as in signal(7)
     */
    public static boolean isIgnored(int number) throws IOException {
        String label = "SigIgn:"; // proc_pid_status(5)
        String mask = Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith(label))
                .findFirst()
                .orElseThrow()
                .substring(label.length())
                .strip();
        return (Long.parseUnsignedLong(mask, 16) >> (number - 1) & 1) != 0;
    }
}
