package io.penstock.cli.mount;

import io.penstock.metadata.Answer;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Node;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.objectstore.ObjectStoreException;
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
    private static final int MOST = 40;

    /** A link that leads to nothing in the mount. The message says where to, of "it". */
    static final class UnfollowedException extends Exception {
        private static final long serialVersionUID = 1L;

        UnfollowedException(String message) {
            super(message);
        }
    }

    /**
     * The target of a symbolic link; empty if this is none, or if the store withholds what it is. May ask the store.
     *
     * @param parent where this is
     */
    Optional<String> target(Directory parent, Answer answer) throws ObjectStoreException, InterruptedException {
        if (!(answer instanceof FileEntry file) || !mayBeLink(file)) {
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
                .filter(answer -> answer instanceof FileEntry file && mayBeLink(file))
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

    private static boolean mayBeLink(FileEntry file) {
        return file.object().version().size() == 0;
    }

    /**
     * The names from the root that a path leads on with after a link.
     *
     * @param parent of the link
     * @param rest of the path after it
     * @param followed how many links were followed on this path before
     */
    List<String> follow(Directory parent, String target, List<String> rest, int followed) throws UnfollowedException {
        if (followed == MOST) {
            throw new UnfollowedException("it leads through more than " + MOST + " symbolic links");
        }
        String below = parent.prefix().substring(root.prefix().length());
        List<String> to = names(target.startsWith("/") ? target : mountPoint + "/" + below + target);
        List<String> mount = names(mountPoint.toString());
        if (to.size() < mount.size() || !to.subList(0, mount.size()).equals(mount)) {
            throw new UnfollowedException("it is a symbolic link to " + target + ", outside of the mount");
        }
        List<String> path = new ArrayList<>(to.subList(mount.size(), to.size()));
        path.addAll(rest);
        return path;
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
