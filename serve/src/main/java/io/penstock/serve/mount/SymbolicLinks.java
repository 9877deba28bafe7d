package io.penstock.serve.mount;

import io.penstock.metadata.Answer;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Node;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Follows the symbolic links of a mount on the way of a user's path, as the kernel does for programs: path_resolution(7). Safe
 * for use by any number of threads.
 *
 * @param root of the mount
 * @param mountPoint without symbolic links
 */
record SymbolicLinks(KeptAttributes kept, Directory root, Path mountPoint) {
    /** On one path: the kernel's MAXSYMLINKS. */
    static final int MOST = 40;

    static final String PARENT = "..";

    /**
     * The target of a symbolic link; empty if this is none, or if the store withholds what it is. May ask the store.
     *
     * @param parent where this is
     */
    Optional<String> target(Directory parent, Answer answer) throws ObjectStoreException, InterruptedException {
        if (!mayBeLink(answer) || !(answer instanceof FileEntry file)) {
            return Optional.empty();
        }
        try {
            return Optional.ofNullable(kept.of(parent, file.object().version()).target());
        } catch (ObjectStoreException.Away e) {
            throw e;
        } catch (ObjectStoreException e) {
            return Optional.empty();
        }
    }

    /**
     * Has the store asked for the targets of these, for calls of {@link #target} that come next: they fail as it has failed.
     *
     * @param parent where they are
     */
    void expect(Directory parent, Collection<Answer> answers) throws InterruptedException {
        List<Node> asked = answers.stream()
                .filter(SymbolicLinks::mayBeLink)
                .map(Node.class::cast)
                .toList();
        if (!asked.isEmpty()) {
            try {
                kept.expect(parent, asked);
            } catch (ObjectStoreException _) {
                // of the parent's marker, which target asks for again
            }
        }
    }

    /** Whether it is an empty file, as links are. */
    static boolean mayBeLink(Answer answer) {
        return answer instanceof FileEntry(StoredObject object)
                && object.version().size() == 0;
    }

    /**
     * The absolute path that a link leads to, as names. Outside of the mount it is without links and {@code ..}; in the mount it
     * may have both, but does not begin with {@code ..}.
     *
     * @param parent of the link
     */
    List<String> lead(Directory parent, String target) {
        String below = parent.prefix().substring(root.prefix().length());
        return resolve(names(target.startsWith("/") ? "" : mountPoint + "/" + below), names(target), 0);
    }

    /**
     * @param from without links and {@code ..}
     * @param followed how many links have led to it
     */
    private List<String> resolve(List<String> from, List<String> ahead, int followed) {
        if (ahead.isEmpty() || (below(from).isPresent() && !ahead.getFirst().equals(PARENT))) {
            return joined(from, ahead);
        }
        List<String> rest = ahead.subList(1, ahead.size());
        if (ahead.getFirst().equals(PARENT)) {
            return resolve(from.subList(0, Math.max(0, from.size() - 1)), rest, followed); // the root is its own parent
        }
        List<String> next = joined(from, ahead.subList(0, 1));
        Optional<String> target = followed < MOST ? outerTarget(next) : Optional.empty();
        return target.isEmpty()
                ? resolve(next, rest, followed)
                : resolve(
                        target.get().startsWith("/") ? List.of() : from,
                        joined(names(target.get()), rest),
                        followed + 1);
    }

    /** The target of a link outside of the mount; empty if this is none, which nothing on the way to the mount point is. */
    private Optional<String> outerTarget(List<String> names) {
        try {
            Path path = Path.of(absolute(names));
            return mountPoint.startsWith(path)
                    ? Optional.empty()
                    : Optional.of(Files.readSymbolicLink(path).toString());
        } catch (IOException | InvalidPathException e) {
            return Optional.empty();
        }
    }

    /** The names from the root of the mount on; empty if the absolute path is outside of the mount. */
    Optional<List<String>> below(List<String> path) {
        List<String> mount = names(mountPoint.toString());
        return path.size() >= mount.size() && path.subList(0, mount.size()).equals(mount)
                ? Optional.of(path.subList(mount.size(), path.size()))
                : Optional.empty();
    }

    static String absolute(List<String> names) {
        return "/" + String.join("/", names);
    }

    private static List<String> names(String path) {
        return Stream.of(path.split("/"))
                .filter(name -> !name.isEmpty() && !name.equals("."))
                .toList();
    }

    private static List<String> joined(List<String> names, List<String> more) {
        return Stream.concat(names.stream(), more.stream()).toList();
    }
}
