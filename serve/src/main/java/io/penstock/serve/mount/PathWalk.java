package io.penstock.serve.mount;

import io.penstock.metadata.Absent;
import io.penstock.metadata.Answer;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Listing;
import io.penstock.metadata.Tree;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.serve.mount.PathPattern.BadPathException;
import java.io.IOException;
import java.nio.file.PathMatcher;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Walks along a user's path from the root of the mount: through folders, through symbolic links, and to everything that
 * its patterns match. Confined to one thread.
 */
final class PathWalk {
    /** The number of matching files that are visited together, so that requests for them run concurrently. */
    private static final int EXPECTED = 256;

    /** The number of link ends that are remembered, at some 200 bytes of heap each. */
    private static final int MOST_REACHED = 1 << 16;

    private final Tree tree;
    private final SymbolicLinks links;
    private final End end;

    /** Keys that links found by patterns led to, including the names after the link, without a trailing slash. */
    private final Set<String> reached = new HashSet<>();

    /** Receives what the path leads to. */
    interface End {
        /** @param answer a file */
        void file(Directory parent, String name, Answer answer) throws IOException, InterruptedException;

        void folder(Directory folder, Elsewhere elsewhere)
                throws BadPathException, ObjectStoreException, IOException, InterruptedException;

        /** A symbolic link that leads to nothing in the mount. */
        void problem(String path, String why);
    }

    /** Decides whether a folder's entry is also visited without the link that leads to the folder. */
    @FunctionalInterface
    interface Elsewhere {
        boolean visits(Directory folder, String name, Answer node);
    }

    /**
     * @param fromLink how many of the first names come from the link
     * @param followed how many links have led to it
     * @param link the last link that was given or found; links that it leads through do not count
     */
    private record Route(PathPattern names, int fromLink, int followed, Link link) {}

    /**
     * @param path as the user gave it, or would
     * @param isMeant whether it was named, or a whole pattern matches it; if not, a pattern found it on its way, and
     *     skips it like a file if it leads to nothing in the mount
     * @param pattern the way to it, if that has a pattern
     */
    private record Link(String path, boolean isMeant, Optional<PathPattern> pattern) {
        /** The root of the mount, from which a user's path begins. */
        static final Link NONE = new Link("", true, Optional.empty());
    }

    PathWalk(Tree tree, SymbolicLinks links, End end) {
        this.tree = tree;
        this.links = links;
        this.end = end;
    }

    /** @return false if nothing has this path */
    boolean along(PathPattern path) throws BadPathException, ObjectStoreException, IOException, InterruptedException {
        return from(new Route(path, 0, 0, Link.NONE), tree.root(), "", 0);
    }

    /**
     * Continues below the directory with the names from this one on.
     *
     * @param path the directory's path, as the user gave it, or would
     */
    private boolean from(Route route, Directory directory, String path, int at)
            throws BadPathException, ObjectStoreException, IOException, InterruptedException {
        if (at == route.names.size()) {
            end.folder(
                    directory,
                    (folder, name, node) -> reached.contains(folder.key(name))
                            || (!SymbolicLinks.mayBeLink(node) && isMatchedWithoutLink(route, folder.key(name))));
            return true;
        }
        String name = route.names.names().get(at);
        if (name.equals(SymbolicLinks.PARENT)) { // from a link's target: users' paths do not have it
            String rest = String.join("/", route.names.names().subList(at, route.fromLink));
            return follow(route, route.link, links.lead(directory, rest), route.fromLink - 1);
        } else if (route.names.isAllLevels(at)) {
            return at + 1 == route.names.size()
                    ? from(route, directory, path, at + 1)
                    : fromEachLevel(route, directory, path, at);
        }
        Answer answer = tree.lookup(directory, name);
        if (answer instanceof Absent && route.names.isPattern(at)) {
            return eachMatching(route, directory, path, PathPattern.matcher(name), at);
        }
        return visit(route, directory, path, name, answer, at);
    }

    private boolean fromEachLevel(Route route, Directory directory, String path, int at)
            throws BadPathException, ObjectStoreException, IOException, InterruptedException {
        boolean here = from(route, directory, path, at + 1);
        return each(
                        tree,
                        directory,
                        (name, node) -> node instanceof Directory child && from(route, child, join(path, name), at))
                || here;
    }

    private boolean eachMatching(Route route, Directory directory, String path, PathMatcher matcher, int at)
            throws BadPathException, ObjectStoreException, IOException, InterruptedException {
        Map<String, Answer> next = new LinkedHashMap<>();
        boolean any = each(tree, directory, (child, node) -> {
            if (PathPattern.matches(matcher, child)) {
                next.put(child, node);
            }
            return next.size() == EXPECTED && visitAll(route, directory, path, next, at);
        });
        return visitAll(route, directory, path, next, at) || any;
    }

    /** Visits these, and clears the map. */
    private boolean visitAll(Route route, Directory directory, String path, Map<String, Answer> nodes, int at)
            throws BadPathException, ObjectStoreException, IOException, InterruptedException {
        links.expect(directory, nodes.values());
        boolean any = false;
        for (Map.Entry<String, Answer> each : nodes.entrySet()) {
            checkInterrupt();
            any |= visit(route, directory, path, each.getKey(), each.getValue(), at);
        }
        nodes.clear();
        return any;
    }

    private boolean visit(Route route, Directory directory, String parent, String name, Answer answer, int at)
            throws BadPathException, ObjectStoreException, IOException, InterruptedException {
        boolean isFromLink = at < route.fromLink;
        String path = isFromLink ? parent : join(parent, name);
        if (answer instanceof Directory child) {
            return enter(route, child, path, at + 1);
        }
        Optional<String> target = links.target(directory, answer);
        if (target.isPresent()) {
            Link link = isFromLink ? route.link : link(route, path, name, at);
            return follow(route, link, links.lead(directory, target.get()), at);
        } else if (isFromLink && (answer instanceof Absent || at + 1 < route.fromLink)) {
            List<String> names = route.names.names().subList(0, route.fromLink);
            return nowhere(
                    route.link, leadsTo(links.mountPoint() + "/" + String.join("/", names)) + ", which does not exist");
        } else if (at + 1 < route.names.size() || answer instanceof Absent) {
            return false;
        } else if (at + 1 != route.fromLink || !isVisitedElsewhere(route)) {
            end.file(directory, name, answer);
        }
        return true;
    }

    private boolean enter(Route route, Directory directory, String path, int at)
            throws BadPathException, ObjectStoreException, IOException, InterruptedException {
        return (at == route.fromLink && isVisitedElsewhere(route)) || from(route, directory, path, at);
    }

    private static Link link(Route route, String path, String name, int at) {
        boolean isNamed = name.equals(route.names.names().get(at));
        boolean isFound =
                !isNamed || IntStream.range(0, at).anyMatch(route.names::isPattern) || route.link.pattern.isPresent();
        return new Link(
                path,
                isNamed || at + 1 == route.names.size(),
                isFound ? Optional.of(route.names.upTo(at)) : Optional.empty());
    }

    /** @param to an absolute path */
    private boolean follow(Route route, Link link, List<String> to, int at)
            throws BadPathException, ObjectStoreException, IOException, InterruptedException {
        Optional<List<String>> below = links.below(to);
        if (route.followed == SymbolicLinks.MOST) {
            return nowhere(link, "more than " + SymbolicLinks.MOST + " symbolic links");
        } else if (below.isEmpty()) {
            return nowhere(link, leadsTo(SymbolicLinks.absolute(to)) + ", which is outside the mount");
        }
        PathPattern names = route.names.replacing(at, below.get());
        int fromLink = names.size() - route.names.size() + Math.max(at + 1, route.fromLink);
        return enter(new Route(names, fromLink, route.followed + 1, link), tree.root(), link.path, 0);
    }

    private static String leadsTo(String path) {
        return "symbolic link to " + path;
    }

    private boolean nowhere(Link link, String why) {
        if (link.isMeant) {
            end.problem(link.path, why);
        }
        return link.isMeant;
    }

    /**
     * Whether the pattern that found a link also reaches the link's end without it, or has been there through another
     * link. So a file counts once.
     */
    private boolean isVisitedElsewhere(Route route) {
        List<String> names = route.names.names();
        boolean isWhole = route.fromLink == names.size();
        return route.link
                .pattern
                .filter(pattern -> pattern.matches(names.subList(0, route.fromLink), isWhole)
                        || (isWhole && isBelowReached(names))
                        || isReached(key(names)))
                .isPresent();
    }

    /** With more links than are remembered, ends may be visited again: their files count twice. */
    private boolean isReached(String key) {
        return reached.size() < MOST_REACHED ? !reached.add(key) : reached.contains(key);
    }

    /** Whether the pattern that found the link to a folder also matches the folder's content without the link. */
    private boolean isMatchedWithoutLink(Route route, String key) {
        return route.fromLink == route.names.size()
                && route.link
                        .pattern
                        .filter(pattern -> pattern.matches(
                                List.of(key.substring(tree.root().prefix().length())
                                        .split("/")),
                                true))
                        .isPresent();
    }

    private boolean isBelowReached(List<String> names) {
        return IntStream.range(0, names.size()).anyMatch(size -> reached.contains(key(names.subList(0, size))));
    }

    private String key(List<String> names) {
        return tree.root().prefix() + String.join("/", names);
    }

    private static String join(String folder, String name) {
        return folder.isEmpty() ? name : folder + "/" + name;
    }

    interface Entry {
        boolean visit(String name, Answer node)
                throws BadPathException, ObjectStoreException, IOException, InterruptedException;
    }

    /** Visits the directory's entries; true if any visit returned true. */
    static boolean each(Tree tree, Directory directory, Entry entry)
            throws BadPathException, ObjectStoreException, IOException, InterruptedException {
        // In this order: a file that is committed between the two is in the listing, or was shown before.
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
                listing = tree.list(directory); // another listing, with the entry at the same index
                continue;
            }
            if (listed != null && !shown.containsKey(listed.name())) {
                any |= entry.visit(listed.name(), listed.node());
            }
            index++;
        }
        return any;
    }

    /** Visiting known names never blocks, so an interrupt would not end it. */
    private static void checkInterrupt() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }
}
