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
 * Follows the symbolic links of a mount along a user's path, as the kernel does for programs: path_resolution(7).
 * Thread-safe.
 *
 * @param root the root of the mount
 * @param mountPoint without symbolic links
 */
record SymbolicLinks(KeptAttributes kept, Directory root, Path mountPoint) {
    /** The maximum number of links on one path: the kernel's MAXSYMLINKS. */
    static final int MOST = 40;

    static final String PARENT = "..";

    /**
     * The target of a symbolic link; empty if this is none, or if the store withholds it. May send a request.
     *
     * @param parent the directory that contains it
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
     * Requests the targets of these for the next calls of {@link #target}, which fail as these requests did.
     *
     * @param parent the directory that contains them
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
                // from the parent's marker, which target requests again
            }
        }
    }

    /** Whether it is an empty file, as links are. */
    static boolean mayBeLink(Answer answer) {
        return answer instanceof FileEntry(StoredObject object)
                && object.version().size() == 0;
    }

    /**
     * The absolute path that a link leads to, as names. Outside the mount it has no links and no {@code ..}. In the
     * mount it may have both, but does not begin with {@code ..}.
     *
     * @param parent the link's directory
     */
    List<String> lead(Directory parent, String target) {
        String below = parent.prefix().substring(root.prefix().length());
        return resolve(names(target.startsWith("/") ? "" : mountPoint + "/" + below), names(target), 0);
    }

    /**
     * @param from without links and {@code ..}
     * @param followed how many links were followed so far
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

    /** The target of a link outside the mount; empty if it is none. Nothing on the way to the mount point is one. */
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

    /** The names below the mount point; empty if the absolute path is outside the mount. */
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
