package io.penstock.cli.mount;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds where paths lead into mounts, and looks up nothing in them: one may hang, and the one that this process serves would
 * wait for itself.
 */
public final class MountBoundary {
    private static final Path ROOT = Path.of("/");

    private MountBoundary() {}

    /**
     * The same path, without symbolic links before the first of these mount points. Names after it stay as they are, but
     * {@code ..} takes off the name before it.
     *
     * @param path absolute; need not exist
     * @param mountPoints without symbolic links
     */
    public static Path resolve(Path path, Collection<Path> mountPoints) {
        return walk(path, mountPoints).normalize();
    }

    /**
     * Whether a path leads into the mount, by symbolic links too, even if it leads out again.
     *
     * @param path absolute; need not exist
     * @param mountPoint without symbolic links
     */
    static boolean leadsInto(Path path, Path mountPoint) {
        return walk(path, List.of(mountPoint)).startsWith(mountPoint);
    }

    /** Ends at the first mount point: the names after it may have {@code ..} among them. */
    private static Path walk(Path path, Collection<Path> mountPoints) {
        Deque<Path> ahead = new ArrayDeque<>();
        path.forEach(ahead::add);
        Path at = ROOT;
        int followed = 0;
        while (!ahead.isEmpty()) {
            Path next = at.resolve(ahead.removeFirst()).normalize();
            if (mountPoints.stream().anyMatch(next::startsWith)) {
                return ahead.stream().reduce(next, Path::resolve);
            }
            Path target = followed < SymbolicLinks.MOST ? target(next) : null;
            if (target == null) {
                at = next;
            } else {
                followed++;
                List<Path> names = new ArrayList<>();
                target.forEach(names::add);
                names.reversed().forEach(ahead::addFirst);
                at = target.isAbsolute() ? ROOT : at;
            }
        }
        return at;
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
