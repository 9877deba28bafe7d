package io.penstock.fuse;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.core.Printable;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Finds the processes that keep a mount busy, like fuser(1): by the links and maps in /proc of each process. It reads
 * links and never follows them, so nothing here waits for the mount. Only root sees other users' processes.
 */
final class Holders {
    /** More processes would bury the message. */
    private static final int MOST_NAMED = 5;

    private final Path proc;

    Holders(Path proc) {
        this.proc = proc;
    }

    /** A line for the user: {@code bash (pid 17) has its working directory there: /mnt/x/a; …}. */
    String describe(Path mountPoint) {
        List<String> found = new ArrayList<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(proc, "[0-9]*")) {
            for (Path process : processes) {
                use(process, mountPoint)
                        .ifPresent(use -> found.add(
                                Printable.text(command(process) + " (pid " + process.getFileName() + ") " + use)));
            }
        } catch (IOException e) {
            // The message has the processes found so far.
        }
        if (found.isEmpty()) {
            return "no visible process uses it; a call may still wait for the store, until the store responds or"
                    + " s3.retry-deadline is over. As root, look for other users with: fuser -vm " + mountPoint;
        }
        int more = found.size() - MOST_NAMED;
        return String.join("; ", found.subList(0, Math.min(found.size(), MOST_NAMED)))
                + (more > 0 ? "; and " + more + " more" : "");
    }

    private static Optional<String> use(Path process, Path mountPoint) {
        return link(process.resolve("cwd"), mountPoint)
                .map(path -> "has its working directory there: " + path)
                .or(() -> link(process.resolve("root"), mountPoint).map(path -> "has its root there: " + path))
                .or(() -> link(process.resolve("exe"), mountPoint).map(path -> "runs " + path))
                .or(() -> openFile(process, mountPoint).map(path -> "has open " + path))
                .or(() -> mappedFile(process, mountPoint).map(path -> "has mapped " + path));
    }

    private static Optional<Path> link(Path link, Path mountPoint) {
        try {
            return Optional.of(Files.readSymbolicLink(link)).filter(target -> target.startsWith(mountPoint));
        } catch (IOException e) {
            return Optional.empty(); // the process has ended, is a kernel thread, or belongs to another user
        }
    }

    private static Optional<Path> openFile(Path process, Path mountPoint) {
        try (Stream<Path> descriptors = Files.list(process.resolve("fd"))) {
            return descriptors.flatMap(fd -> link(fd, mountPoint).stream()).findFirst();
        } catch (IOException | java.io.UncheckedIOException e) {
            return Optional.empty();
        }
    }

    /** {@code address permissions offset device inode   path}: proc_pid_maps(5). */
    private static Optional<Path> mappedFile(Path process, Path mountPoint) {
        try (Stream<String> maps = Files.lines(process.resolve("maps"), ISO_8859_1)) {
            return maps.filter(line -> line.indexOf('/') >= 0)
                    .map(line ->
                            Path.of(new String(line.substring(line.indexOf('/')).getBytes(ISO_8859_1), UTF_8)))
                    .filter(path -> path.startsWith(mountPoint))
                    .findFirst();
        } catch (IOException | java.io.UncheckedIOException e) {
            return Optional.empty();
        }
    }

    private static String command(Path process) {
        try {
            return Files.readString(process.resolve("comm"), UTF_8).strip();
        } catch (IOException e) {
            return "a process";
        }
    }
}
