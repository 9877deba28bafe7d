package io.penstock.cli.mount;

import io.penstock.cli.mount.SymbolicLinks.UnfollowedException;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Answer;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Listing;
import io.penstock.metadata.Tree;
import io.penstock.objectstore.ObjectStoreException;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.PatternSyntaxException;

/**
 * The way along a user's path, from the root of the mount: through folders, through symbolic links, and to all that its
 * patterns match. Confined to a thread.
 */
final class PathWalk {
    private static final String ALL_LEVELS = "**";

    /** Files that a pattern matches and that are visited together, so that the store is asked for many of them at once. */
    private static final int EXPECTED = 256;

    private final Tree tree;
    private final SymbolicLinks links;
    private final boolean takesPatterns;
    private final End end;

    /** Gets what the path leads to. */
    interface End {
        /** @param answer a file */
        void file(Directory parent, String name, Answer answer) throws IOException, InterruptedException;

        void folder(Directory folder) throws BadPathException, ObjectStoreException, IOException, InterruptedException;

        /** A symbolic link that leads to nothing in the mount. */
        void problem(String path, String why);
    }

    /** A path that names nothing in the mount, whatever is there. */
    static final class BadPathException extends Exception {
        private static final long serialVersionUID = 1L;

        BadPathException(String why) {
            super(why);
        }
    }

    /**
     * @param names from the root
     * @param fromLinks how many of them, from the first on, come from links: they are no patterns
     * @param followed how many links have led to it
     */
    private record Route(List<String> names, int fromLinks, int followed) {}

    /** @param takesPatterns whether names may be patterns */
    PathWalk(Tree tree, SymbolicLinks links, boolean takesPatterns, End end) {
        this.tree = tree;
        this.links = links;
        this.takesPatterns = takesPatterns;
        this.end = end;
    }

    /** @return false if nothing has this path */
    boolean along(List<String> names) throws BadPathException, ObjectStoreException, IOException, InterruptedException {
        return from(new Route(names, 0, 0), tree.root(), 0);
    }

    static boolean isGlob(String name) {
        return name.chars().anyMatch(c -> "*?[{".indexOf(c) >= 0);
    }

    static PathMatcher matcher(String glob) throws BadPathException {
        try {
            return FileSystems.getDefault().getPathMatcher("glob:" + glob);
        } catch (PatternSyntaxException e) {
            throw new BadPathException("it is no pattern: " + e.getDescription());
        }
    }

    static boolean matches(PathMatcher matcher, String name) {
        try {
            return matcher.matches(Path.of(name));
        } catch (InvalidPathException e) {
            return false;
        }
    }

    private boolean isPattern(Route route, int at) {
        return takesPatterns && at >= route.fromLinks && isGlob(route.names.get(at));
    }

    /** Goes on with the names from this one on, below the directory. */
    private boolean from(Route route, Directory directory, int at)
            throws BadPathException, ObjectStoreException, IOException, InterruptedException {
        if (at == route.names.size()) {
            end.folder(directory);
            return true;
        }
        String name = route.names.get(at);
        if (isPattern(route, at) && name.equals(ALL_LEVELS)) {
            return at + 1 == route.names.size() ? from(route, directory, at + 1) : fromEachLevel(route, directory, at);
        }
        Answer answer = tree.lookup(directory, name);
        if (answer instanceof Absent && isPattern(route, at)) {
            return eachMatching(route, directory, matcher(name), at);
        }
        return visit(route, directory, name, answer, at);
    }

    private boolean fromEachLevel(Route route, Directory directory, int at)
            throws BadPathException, ObjectStoreException, IOException, InterruptedException {
        boolean here = from(route, directory, at + 1);
        return each(tree, directory, (_, node) -> node instanceof Directory child && from(route, child, at)) || here;
    }

    private boolean eachMatching(Route route, Directory directory, PathMatcher matcher, int at)
            throws BadPathException, ObjectStoreException, IOException, InterruptedException {
        Map<String, Answer> next = new LinkedHashMap<>();
        boolean any = each(tree, directory, (child, node) -> {
            if (matches(matcher, child)) {
                next.put(child, node);
            }
            return next.size() == EXPECTED && visitAll(route, directory, next, at);
        });
        return visitAll(route, directory, next, at) || any;
    }

    /** Visits these, and clears the map. */
    private boolean visitAll(Route route, Directory directory, Map<String, Answer> nodes, int at)
            throws BadPathException, ObjectStoreException, IOException, InterruptedException {
        links.expect(directory, nodes.values());
        boolean any = false;
        for (Map.Entry<String, Answer> each : nodes.entrySet()) {
            checkInterrupt();
            any |= visit(route, directory, each.getKey(), each.getValue(), at);
        }
        nodes.clear();
        return any;
    }

    private boolean visit(Route route, Directory directory, String name, Answer answer, int at)
            throws BadPathException, ObjectStoreException, IOException, InterruptedException {
        if (answer instanceof Directory child) {
            return from(route, child, at + 1);
        }
        Optional<String> target = links.target(directory, answer);
        if (target.isPresent()) {
            return follow(route, directory, name, target.get(), at);
        }
        boolean isEnd = at + 1 == route.names.size() && !(answer instanceof Absent);
        if (isEnd) {
            end.file(directory, name, answer);
        }
        return isEnd;
    }

    private boolean follow(Route route, Directory directory, String name, String target, int at)
            throws BadPathException, ObjectStoreException, IOException, InterruptedException {
        List<String> rest = route.names.subList(at + 1, route.names.size());
        try {
            List<String> on = links.follow(directory, target, rest, route.followed);
            int fromLinks = on.size() - route.names.size() + Math.max(at + 1, route.fromLinks);
            return from(new Route(on, fromLinks, route.followed + 1), tree.root(), 0);
        } catch (UnfollowedException e) {
            end.problem(FileSelection.shown(tree, directory.key(name)), String.valueOf(e.getMessage()));
            return true;
        }
    }

    interface Entry {
        boolean visit(String name, Answer node)
                throws BadPathException, ObjectStoreException, IOException, InterruptedException;
    }

    /** True if one of the directory's entries has returned true. */
    static boolean each(Tree tree, Directory directory, Entry entry)
            throws BadPathException, ObjectStoreException, IOException, InterruptedException {
        // In this order: a file committed in between is in the listing, or was shown before.
        Map<String, Answer> shown = Map.copyOf(tree.overlaid(directory));
        boolean any = false;
        for (Map.Entry<String, Answer> each : shown.entrySet()) {
            checkInterrupt();
            any |= entry.visit(each.getKey(), each.getValue());
        }
        Listing listing = tree.list(directory);
        for (int index = 0; listing.await(index); ) {
            checkInterrupt();
            Listing.Entry listed = listing.get(index);
            if (listed == null && listing.hasDropped(index)) {
                listing = tree.list(directory); // another, in which it is at the same place
                continue;
            }
            if (listed != null && !shown.containsKey(listed.name())) {
                any |= entry.visit(listed.name(), listed.node());
            }
            index++;
        }
        return any;
    }

    /** Names that are known are visited without a wait that an interrupt would end. */
    private static void checkInterrupt() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }
}
