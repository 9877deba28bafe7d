package io.penstock.serve.mount;

import io.penstock.core.ObjectVersion;
import io.penstock.core.Printable;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Answer;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.LiveFile;
import io.penstock.metadata.Tree;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.serve.mount.PathPattern.BadPathException;
import io.penstock.settings.process.RefusedException;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The files of a mount that a user names, by globs and by paths of files and folders. A folder includes everything in
 * it. A path is below the mount point, or relative to it. Symbolic links on its way are followed; those in its folders
 * are not, as with du and cp -r. Immutable.
 *
 * @param paths as given
 * @param list a file with further paths, one a line; null for none
 */
record FileSelection(
        Path mountPoint, List<String> paths, @Nullable Path list) {
    /** Replaces bytes that are not UTF-8 in {@link ListedPaths}. */
    private static final char NO_TEXT = '\uFFFD';

    /** Receives the files, in order. */
    interface Visitor {
        void file(ObjectVersion version) throws IOException, InterruptedException;

        /** A file that is being written here and is not in the store yet. */
        void written(String key) throws IOException, InterruptedException;

        /** A path that leads to no file, and the reason. */
        void problem(String path, String why);
    }

    FileSelection {
        paths = List.copyOf(paths);
    }

    /** Checks that all of {@link #paths} can name something in the mount. */
    void check() throws RefusedException {
        for (String path : paths) {
            names(path);
        }
    }

    /** Looks up and lists the names that it needs. A path without a file is reported, and the others are visited. */
    void visit(MountedModules modules, Visitor visitor)
            throws RefusedException, ObjectStoreException, IOException, InterruptedException {
        visit(modules.tree(), modules.links(), visitor);
    }

    void visit(Tree tree, SymbolicLinks links, Visitor visitor)
            throws RefusedException, ObjectStoreException, IOException, InterruptedException {
        try (ListedPaths all = all()) {
            for (String path = all.next(); path != null; path = all.next()) {
                visit(tree, links, path, visitor);
            }
        }
    }

    /** The {@link #paths}, then those in {@link #list}. */
    ListedPaths all() throws RefusedException {
        return new ListedPaths(paths, list);
    }

    void visit(Tree tree, SymbolicLinks links, String path, Visitor visitor)
            throws ObjectStoreException, IOException, InterruptedException {
        try {
            if (!new PathWalk(tree, links, new Found(tree, visitor)).along(new PathPattern(parse(path), 0))) {
                visitor.problem(
                        path,
                        "no such file or folder" + (path.indexOf(NO_TEXT) < 0 ? "" : "; the path is not valid UTF-8"));
            }
        } catch (BadPathException e) {
            visitor.problem(path, String.valueOf(e.getMessage()));
        }
    }

    /** Matches files by key. This needs neither the store nor the names, and follows no link. */
    Predicate<String> keys(Directory root) throws RefusedException, IOException, InterruptedException {
        Set<String> names = new HashSet<>();
        List<PathMatcher> globs = new ArrayList<>();
        try (ListedPaths all = all()) {
            for (String path = all.next(); path != null; path = all.next()) {
                try {
                    String name = String.join("/", parse(path));
                    names.add(name);
                    if (PathPattern.isGlob(name)) {
                        globs.add(PathPattern.matcher(name));
                    }
                } catch (BadPathException e) {
                    throw refused(path, e);
                }
            }
        }
        Predicate<String> isNamed =
                name -> names.contains(name) || globs.stream().anyMatch(glob -> PathPattern.matches(glob, name));
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

    /** The names of the path, from the mount point down. */
    List<String> names(String path) throws RefusedException {
        try {
            return parse(path);
        } catch (BadPathException e) {
            throw refused(path, e);
        }
    }

    private static RefusedException refused(String path, BadPathException e) {
        return new RefusedException((path.isEmpty() ? "''" : Printable.text(path)) + ": " + e.getMessage());
    }

    private List<String> parse(String path) throws BadPathException {
        if (path.isEmpty()) { // in a script, the variable may be unset
            throw new BadPathException("empty path; use . for the whole mount");
        }
        String below = path;
        if (path.startsWith("/")) {
            String mount = mountPoint + "/";
            if (!(path + "/").startsWith(mount)) {
                throw new BadPathException("not below " + mountPoint);
            }
            below = path.substring(Math.min(path.length(), mount.length()));
        }
        List<String> names = new ArrayList<>();
        for (String name : below.split("/", -1)) {
            if (name.equals("..")) {
                throw new BadPathException(".. is not supported; write the path without it");
            } else if (!name.isEmpty() && !name.equals(".")) {
                names.add(name);
            }
        }
        return names;
    }

    private record Found(Tree tree, Visitor visitor) implements PathWalk.End {
        @Override
        public void file(Directory parent, String name, Answer answer) throws IOException, InterruptedException {
            switch (answer) {
                case FileEntry(var object) -> visitor.file(object.version());
                case LiveFile _ -> visitor.written(parent.key(name));
                case Directory _, Absent _ -> {}
            }
        }

        @Override
        public void folder(Directory folder, PathWalk.Elsewhere elsewhere)
                throws BadPathException, ObjectStoreException, IOException, InterruptedException {
            boolean _ = PathWalk.each(tree, folder, (name, node) -> {
                if (elsewhere.visits(folder, name, node)) {
                    return true;
                } else if (node instanceof Directory child) {
                    folder(child, elsewhere);
                } else {
                    file(folder, name, node);
                }
                return true;
            });
        }

        @Override
        public void problem(String path, String why) {
            visitor.problem(path, why);
        }
    }

    /** The path of a key, as the mount shows it. */
    static String shown(Tree tree, String key) {
        Place place = tree.place(key);
        return place == null ? key : key.substring(tree.root().prefix().length());
    }
}
