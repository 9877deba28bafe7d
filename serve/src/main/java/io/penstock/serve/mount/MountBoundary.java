package io.penstock.serve.mount;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds where paths lead into mounts. It looks up nothing in them: one may hang, and this process's own mount would
 * wait for itself.
 */
public final class MountBoundary {
    private static final Path ROOT = Path.of("/");

    private MountBoundary() {}

    /**
     * The same path, without symbolic links outside these mounts. Inside them names stay as they are, but {@code ..}
     * removes the name before it.
     *
     * @param path absolute; need not exist
     * @param mountPoints without symbolic links
     */
    public static Path resolve(Path path, Collection<Path> mountPoints) {
        return way(path, mountPoints).getLast();
    }

    /**
     * The innermost of these mount points that is the path or contains it.
     *
     * @param path {@linkplain #resolve resolved}
     */
    public static Optional<Path> around(Path path, Collection<Path> mountPoints) {
        return mountPoints.stream().filter(path::startsWith).max(Comparator.comparingInt(Path::getNameCount));
    }

    /**
     * Whether a path leads into one of the mounts, also through symbolic links, even if it leads out again.
     *
     * @param path absolute; need not exist
     * @param mountPoints without symbolic links
     */
    public static boolean leadsInto(Path path, Collection<Path> mountPoints) {
        return way(path, mountPoints).stream().anyMatch(place -> isIn(place, mountPoints));
    }

    /** The places that the path passes through; the last one is its end. */
    private static List<Path> way(Path path, Collection<Path> mountPoints) {
        Deque<Path> ahead = new ArrayDeque<>();
        path.forEach(ahead::add);
        List<Path> places = new ArrayList<>(List.of(ROOT));
        int followed = 0;
        while (!ahead.isEmpty()) {
            Path next = places.getLast().resolve(ahead.removeFirst()).normalize();
            Path target = isIn(next, mountPoints) || followed == SymbolicLinks.MOST ? null : target(next);
            if (target == null) {
                places.add(next);
            } else {
                followed++;
                List<Path> names = new ArrayList<>();
                target.forEach(names::add);
                names.reversed().forEach(ahead::addFirst);
                if (target.isAbsolute()) {
                    places.add(ROOT);
                }
            }
        }
        return places;
    }

    private static boolean isIn(Path path, Collection<Path> mountPoints) {
        return mountPoints.stream().anyMatch(path::startsWith);
    }

    /** Null if it is missing, or is not a link. */
    private static @Nullable Path target(Path path) {
        try {
            return Files.readSymbolicLink(path);
        } catch (IOException e) {
            return null;
        }
    }
}
