package io.penstock.serve.mount;

import java.nio.file.FileSystems;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.List;
import java.util.regex.PatternSyntaxException;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A path below the root of a mount, as names. Some of them may be patterns. Immutable.
 *
 * @param literal how many of the first names are not patterns, even if they look like it
 */
record PathPattern(List<String> names, int literal) {
    private static final String ALL_LEVELS = "**";

    /** A path that cannot name anything in the mount. */
    static final class BadPathException extends Exception {
        private static final long serialVersionUID = 1L;

        BadPathException(String why) {
            super(why);
        }
    }

    static boolean isGlob(String name) {
        return name.chars().anyMatch(c -> "*?[{".indexOf(c) >= 0);
    }

    static PathMatcher matcher(String glob) throws BadPathException {
        try {
            return FileSystems.getDefault().getPathMatcher("glob:" + glob);
        } catch (PatternSyntaxException e) {
            throw new BadPathException("invalid pattern: " + e.getDescription());
        }
    }

    static boolean matches(PathMatcher matcher, String name) {
        try {
            return matcher.matches(Path.of(name));
        } catch (InvalidPathException e) {
            return false;
        }
    }

    int size() {
        return names.size();
    }

    /** Whether this name is a pattern, if no file has it. */
    boolean isPattern(int at) {
        return at >= literal && isGlob(names.get(at));
    }

    /** Whether this name matches any number of folders. */
    boolean isAllLevels(int at) {
        return at >= literal && names.get(at).equals(ALL_LEVELS);
    }

    /** The names up to this one. */
    PathPattern upTo(int at) {
        return new PathPattern(names.subList(0, at + 1), Math.min(literal, at + 1));
    }

    /** The path behind a link with this name: the link's target, and the names after the link. */
    PathPattern replacing(int at, List<String> target) {
        List<String> rest = names.subList(at + 1, names.size());
        return new PathPattern(
                Stream.concat(target.stream(), rest.stream()).toList(),
                target.size() + Math.max(0, literal - (at + 1)));
    }

    /**
     * Whether it matches a path without links.
     *
     * @param orAbove whether it may match an ancestor instead
     */
    boolean matches(List<String> path, boolean orAbove) {
        return matches(0, path, orAbove);
    }

    private boolean matches(int at, List<String> path, boolean orAbove) {
        if (at == names.size()) {
            return orAbove || path.isEmpty();
        } else if (isAllLevels(at)) {
            return IntStream.rangeClosed(0, path.size())
                    .anyMatch(level -> matches(at + 1, path.subList(level, path.size()), orAbove));
        }
        return !path.isEmpty()
                && matches(at, path.getFirst())
                && matches(at + 1, path.subList(1, path.size()), orAbove);
    }

    private boolean matches(int at, String name) {
        try {
            return name.equals(names.get(at)) || (isPattern(at) && matches(matcher(names.get(at)), name));
        } catch (BadPathException e) {
            return false; // a name that only looks like a pattern
        }
    }
}
