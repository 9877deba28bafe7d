package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The mounts of this machine (proc_pid_mountinfo(5)). */
final class Mounts {
    private static final Path MOUNTINFO = Path.of("/proc/self/mountinfo");

    private Mounts() {}

    static boolean isMounted(Path path) throws IOException {
        return mountPoints(Files.readAllLines(MOUNTINFO)).contains(path);
    }

    /** Everything that is mounted on a folder or below it. */
    static List<Path> below(Path folder) throws IOException {
        return mountPoints(Files.readAllLines(MOUNTINFO)).stream()
                .filter(path -> path.startsWith(folder))
                .toList();
    }

    static List<Path> mountPoints(List<String> mountinfo) {
        return mountinfo.stream()
                .map(line -> Path.of(unescape(line.split(" ", 6)[4])))
                .toList();
    }

    /** Detaches a mount whose process has ended. */
    static void detach(Path mountPoint) throws IOException, InterruptedException {
        Programs.run(List.of(
                "bash",
                "-c",
                "umount -l \"$1\" 2>/dev/null || fusermount -u -z \"$1\"",
                "bash",
                mountPoint.toString()));
    }

    /** The kernel writes blanks, tabs, line ends and backslashes in octal. */
    private static String unescape(String path) {
        return path.replace("\\040", " ")
                .replace("\\011", "\t")
                .replace("\\012", "\n")
                .replace("\\134", "\\");
    }
}
