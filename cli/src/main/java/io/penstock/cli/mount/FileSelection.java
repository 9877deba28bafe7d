package io.penstock.cli.mount;

import io.penstock.cli.mount.SymbolicLinks.UnfollowedException;
import io.penstock.cli.process.RefusedException;
import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Answer;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.Listing;
import io.penstock.metadata.LiveFile;
import io.penstock.metadata.Tree;
import io.penstock.objectstore.ObjectStoreException;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/**
 * The files of a mount that a user names: by paths of files and folders, which stand for all that is in them, and by globs.
 * A path is below the mount point, or relative to it. Symbolic links on its way are followed, and those in its folders are
 * not, as by du and cp -r. Immutable. What a path may be and the walk along it share one set of rules: hence its length.
 *
 * @param paths as they were given
 * @param list a file with further paths, one a line; null for none
 */
record FileSelection(
        Path mountPoint, List<String> paths, @Nullable Path list) {
    private static final String ALL_LEVELS = "**";

    /** Files that a pattern matches and that are visited together, so that the store is asked for many of them at once. */
    private static final int EXPECTED = 256;

    /** {@link ListedPaths} has it in place of bytes that are not UTF-8. */
    private static final char NO_TEXT = '\uFFFD';

    /** Gets the files, in order. */
    interface Visitor {
        void file(ObjectVersion version) throws IOException, InterruptedException;

        /** A file that is not in the store yet, as it is being written here. */
        void written(String key) throws IOException, InterruptedException;

        /** A path that stands for no file: nothing is there, or it is none that could be. */
        void problem(String path, String why);
    }

    /** A path that names nothing in the mount, whatever is there. */
    private static final class BadPathException extends Exception {
        private static final long serialVersionUID = 1L;

        private final String why;

        BadPathException(String why) {
            super(why);
            this.why = why;
        }
    }

    FileSelection {
        paths = List.copyOf(paths);
    }

    /** Whether all of {@link #paths} can name something in the mount. */
    void check() throws RefusedException {
        for (String path : paths) {
            names(path);
        }
    }

    /** Looks up and lists the names that it needs. A path of no file is reported, and the others are visited. */
    void visit(Contents contents, Visitor visitor)
            throws RefusedException, ObjectStoreException, IOException, InterruptedException {
        visit(contents.tree(), contents.links(), visitor);
    }

    void visit(Tree tree, SymbolicLinks links, Visitor visitor)
            throws RefusedException, ObjectStoreException, IOException, InterruptedException {
        try (ListedPaths all = all()) {
            for (String path = all.next(); path != null; path = all.next()) {
                visit(tree, links, path, visitor);
            }
        }
    }

    /** {@link #paths}, and those of {@link #list}. */
    ListedPaths all() throws RefusedException {
        return new ListedPaths(paths, list);
    }

    void visit(Tree tree, SymbolicLinks links, String path, Visitor visitor)
            throws ObjectStoreException, IOException, InterruptedException {
        try {
            if (!new Walk(tree, links, parse(path), 0, visitor, 0).from(tree.root(), 0)) {
                visitor.problem(
                        path,
                        "there is no such file or folder" + (path.indexOf(NO_TEXT) < 0 ? "" : "; it is not in UTF-8"));
            }
        } catch (BadPathException e) {
            visitor.problem(path, e.why);
        }
    }

    /** Tells by its key whether a file is one of them: neither the store nor the names are needed, and no link is followed. */
    Predicate<String> keys(Directory root) throws RefusedException, IOException, InterruptedException {
        Set<String> names = new HashSet<>();
        List<PathMatcher> globs = new ArrayList<>();
        try (ListedPaths all = all()) {
            for (String path = all.next(); path != null; path = all.next()) {
                try {
                    String name = String.join("/", parse(path));
                    names.add(name);
                    if (isGlob(name)) {
                        globs.add(matcher(name));
                    }
                } catch (BadPathException e) {
                    throw refused(path, e);
                }
            }
        }
        Predicate<String> isNamed =
                name -> names.contains(name) || globs.stream().anyMatch(glob -> matches(glob, name));
        String prefix = root.prefix();
        return key -> key.startsWith(prefix)
                && (names.contains("") || isNamedOrBelow(key.substring(prefix.length()), isNamed));
    }

    private static boolean isNamedOrBelow(String shown, Predicate<String> isNamed) {
        for (int end = shown.indexOf('/'); end >= 0; end = shown.indexOf('/', end + 1)) {
            if (isNamed.test(shown.substring(0, end))) {
                return true;
            }
        }
        return isNamed.test(shown);
    }

    private static boolean matches(PathMatcher matcher, String name) {
        try {
            return matcher.matches(Path.of(name));
        } catch (InvalidPathException e) {
            return false;
        }
    }

    private static boolean isGlob(String name) {
        return name.chars().anyMatch(c -> "*?[{".indexOf(c) >= 0);
    }

    private static PathMatcher matcher(String glob) throws BadPathException {
        try {
            return FileSystems.getDefault().getPathMatcher("glob:" + glob);
        } catch (PatternSyntaxException e) {
            throw new BadPathException("it is no pattern: " + e.getDescription());
        }
    }

    /** The names from the mount point down. */
    List<String> names(String path) throws RefusedException {
        try {
            return parse(path);
        } catch (BadPathException e) {
            throw refused(path, e);
        }
    }

    private static RefusedException refused(String path, BadPathException e) {
        return new RefusedException((path.isEmpty() ? "''" : path) + ": " + e.why);
    }

    private List<String> parse(String path) throws BadPathException {
        if (path.isEmpty()) { // the mistake of a script whose variable is not set
            throw new BadPathException("an empty path names nothing; . stands for all of the mount");
        }
        String below = path;
        if (path.startsWith("/")) {
            String mount = mountPoint + "/";
            if (!(path + "/").startsWith(mount)) {
                throw new BadPathException("it is not below " + mountPoint);
            }
            below = path.substring(Math.min(path.length(), mount.length()));
        }
        List<String> names = new ArrayList<>();
        for (String name : below.split("/", -1)) {
            if (name.equals("..")) {
                throw new BadPathException(".. is not followed; write the path without it");
            } else if (!name.isEmpty() && !name.equals(".")) {
                names.add(name);
            }
        }
        return names;
    }

    /**
     * Looks for one path.
     *
     * @param literal how many of the names, from the first on, come from links: they are no patterns
     * @param followed how many links have led to it
     */
    private record Walk(
            Tree tree, SymbolicLinks links, List<String> names, int literal, Visitor visitor, int followed) {
        /** Visits the path of the names from this one on, below the directory; false if nothing has it. */
        boolean from(Directory directory, int at)
                throws BadPathException, ObjectStoreException, IOException, InterruptedException {
            if (at == names.size()) {
                return all(directory);
            }
            String name = names.get(at);
            if (at >= literal && name.equals(ALL_LEVELS)) {
                return at + 1 == names.size() ? all(directory) : fromEachLevel(directory, at);
            }
            Answer answer = tree.lookup(directory, name);
            if (answer instanceof Absent && at >= literal && isGlob(name)) {
                return eachMatching(directory, matcher(name), at);
            }
            return visit(directory, name, answer, at);
        }

        private boolean eachMatching(Directory directory, PathMatcher matcher, int at)
                throws BadPathException, ObjectStoreException, IOException, InterruptedException {
            Map<String, Answer> next = new LinkedHashMap<>();
            boolean any = each(directory, (child, node) -> {
                if (matches(matcher, child)) {
                    next.put(child, node);
                }
                return next.size() == EXPECTED && visitAll(directory, next, at);
            });
            return visitAll(directory, next, at) || any;
        }

        /** Visits these, and clears the map. */
        private boolean visitAll(Directory directory, Map<String, Answer> nodes, int at)
                throws BadPathException, ObjectStoreException, IOException, InterruptedException {
            links.expect(directory, nodes.values());
            boolean any = false;
            for (Map.Entry<String, Answer> each : nodes.entrySet()) {
                checkInterrupt();
                any |= visit(directory, each.getKey(), each.getValue(), at);
            }
            nodes.clear();
            return any;
        }

        private boolean fromEachLevel(Directory directory, int at)
                throws BadPathException, ObjectStoreException, IOException, InterruptedException {
            boolean here = from(directory, at + 1);
            return each(directory, (_, node) -> node instanceof Directory child && from(child, at)) || here;
        }

        private boolean visit(Directory directory, String name, Answer answer, int at)
                throws BadPathException, ObjectStoreException, IOException, InterruptedException {
            if (answer instanceof Directory child) {
                return from(child, at + 1);
            }
            Optional<String> target = links.target(directory, answer);
            if (target.isPresent()) {
                return follow(directory, name, target.get(), at);
            }
            return at + 1 == names.size() && file(directory, name, answer);
        }

        private boolean follow(Directory directory, String name, String target, int at)
                throws BadPathException, ObjectStoreException, IOException, InterruptedException {
            try {
                List<String> on = links.follow(directory, target, names.subList(at + 1, names.size()), followed);
                int fromLinks = on.size() - names.size() + Math.max(at + 1, literal);
                return new Walk(tree, links, on, fromLinks, visitor, followed + 1).from(tree.root(), 0);
            } catch (UnfollowedException e) {
                visitor.problem(shown(tree, directory.key(name)), String.valueOf(e.getMessage()));
                return true;
            }
        }

        /** Whether it is a file. */
        private boolean file(Directory directory, String name, Answer answer) throws IOException, InterruptedException {
            switch (answer) {
                case FileEntry(var object) -> visitor.file(object.version());
                case LiveFile _ -> visitor.written(directory.key(name));
                case Directory _, Absent _ -> {
                    return false;
                }
            }
            return true;
        }

        private boolean all(Directory directory)
                throws BadPathException, ObjectStoreException, IOException, InterruptedException {
            boolean _ = each(directory, (name, node) -> switch (node) {
                case Directory child -> all(child);
                default -> file(directory, name, node);
            });
            return true;
        }

        private interface Entry {
            boolean visit(String name, Answer node)
                    throws BadPathException, ObjectStoreException, IOException, InterruptedException;
        }

        /** Names that are known are visited without a wait that an interrupt would end. */
        private static void checkInterrupt() throws InterruptedException {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }

        /** True if one of the entries has returned true. */
        private boolean each(Directory directory, Entry entry)
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
    }

    /** The path of a key, as the mount shows it. */
    static String shown(Tree tree, String key) {
        Place place = tree.place(key);
        return place == null ? key : key.substring(tree.root().prefix().length());
    }
}
