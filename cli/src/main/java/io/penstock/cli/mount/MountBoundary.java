package io.penstock.cli.mount;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tells which paths lead into the mount that this process serves, which it must not access. */
final class MountBoundary {
    private static final Path ROOT = Path.of("/");

    /** As the kernel follows: path_resolution(7). */
    private static final int MOST_LINKS = 40;

    private MountBoundary() {}

    /**
     * Whether a path leads into the mount, by symbolic links too. Looks up nothing in the mount.
     *
     * @param path absolute; need not exist
     * @param mountPoint without symbolic links
     */
    static boolean leadsInto(Path path, Path mountPoint) {
        Deque<Path> ahead = new ArrayDeque<>();
        path.forEach(ahead::add);
        Path at = ROOT;
        int links = 0;
        while (!ahead.isEmpty()) {
            Path next = at.resolve(ahead.removeFirst()).normalize();
            if (next.startsWith(mountPoint)) {
                return true;
            }
            Path target = target(next);
            if (target == null) {
                at = next;
            } else if (++links > MOST_LINKS) {
                return false; // no call follows it either
            } else {
                List<Path> names = new ArrayList<>();
                target.forEach(names::add);
                names.reversed().forEach(ahead::addFirst);
                at = target.isAbsolute() ? ROOT : at;
            }
        }
        return false;
    }

    /** Null if it is no link, or missing. */
    private static @Nullable Path target(Path path) {
        try {
            return Files.readSymbolicLink(path);
        } catch (IOException e) {
            return null;
        }
    }
}
