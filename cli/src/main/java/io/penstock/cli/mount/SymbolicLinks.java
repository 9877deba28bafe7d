package io.penstock.cli.mount;

import io.penstock.metadata.Answer;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Node;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * Follows the symbolic links of a mount on the way of a user's path, as the kernel does for programs, but by their names
 * alone: in {@code a/../b} it takes {@code a} for a folder. Safe for use by any number of threads.
 *
 * @param root of the mount
 */
record SymbolicLinks(KeptAttributes kept, Directory root, Path mountPoint) {
    /** On one path: the kernel's MAXSYMLINKS. */
    static final int MOST = 40;

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
     * The absolute path that a link leads to, as names.
     *
     * @param parent of the link
     */
    List<String> lead(Directory parent, String target) {
        String below = parent.prefix().substring(root.prefix().length());
        return names(target.startsWith("/") ? target : mountPoint + "/" + below + target);
    }

    /** The names from the root of the mount on; empty if the absolute path is outside of the mount. */
    Optional<List<String>> below(List<String> path) {
        List<String> mount = names(mountPoint.toString());
        return path.size() >= mount.size() && path.subList(0, mount.size()).equals(mount)
                ? Optional.of(path.subList(mount.size(), path.size()))
                : Optional.empty();
    }

    private static List<String> names(String path) {
        List<String> names = new ArrayList<>();
        for (String name : path.split("/", -1)) {
            switch (name) {
                case "", "." -> {}
                case ".." -> {
                    if (!names.isEmpty()) { // the root is its own parent
                        names.removeLast();
                    }
                }
                default -> names.add(name);
            }
        }
        return names;
    }
}
