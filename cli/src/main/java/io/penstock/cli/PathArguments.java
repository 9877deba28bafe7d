package io.penstock.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.core.Printable;
import io.penstock.serve.mount.MountBoundary;
import io.penstock.settings.Host;
import io.penstock.settings.process.Folders;
import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
import io.penstock.settings.process.ShellWord;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The mount and the paths that a command is about. */
final class PathArguments {
    /** Longer lists than this, in characters, are passed in a file: a request is at most 64 KiB. */
    private static final int MOST_SENT = 8_000;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = ServingMount.LABEL, description = "The mount point.")
    private String mountPoint;

    @Parameters(
            index = "1..*",
            paramLabel = "PATH",
            description = "Files, folders (with all they contain) and patterns (*, ?, [a-z], {a,b}, ** for any depth),"
                    + " relative to the current folder if it is in the mount, otherwise to the mount point: . is the"
                    + " current folder, or outside the mount the whole mount. A name that exists is taken literally,"
                    + " not as a pattern: ?* matches every name, even next to a file named *.")
    private List<String> paths = new ArrayList<>();

    /** @throws ParameterException if a path in a mount is given instead of the mount point */
    ServingMount mount() throws IOException, RefusedException {
        ServingMount.Mounts mounts = ServingMount.Mounts.read();
        String first = expected(mounts.points());
        if (first != null) {
            throw new ParameterException(spec.commandLine(), first);
        }
        Path given = Host.current().path(mountPoint);
        return ServingMount.find(
                mounts,
                given,
                "nothing is mounted on " + Printable.text(given.toString())
                        + ", but the mount point must come first; penstock mounts lists the mounts");
    }

    /**
     * Requires a path, for commands where no other argument replaces it.
     *
     * @throws ParameterException if there is no path
     */
    void require(String otherwise) throws IOException {
        if (paths.isEmpty()) {
            String first = expected(ServingMount.Mounts.read().points());
            throw new ParameterException(
                    spec.commandLine(),
                    first != null
                            ? first
                            : "give a file or folder after the mount point (. for the whole mount)" + otherwise);
        }
    }

    /** Without a path, the whole mount is meant. */
    void orAllOfTheMount() {
        if (paths.isEmpty()) {
            paths.add(Host.current().path(mountPoint).toString());
        }
    }

    /** The message if the first argument is a path in a mount, not its mount point; else null. */
    private @Nullable String expected(List<Path> mountPoints) {
        List<String> given = new ArrayList<>(paths);
        given.addFirst(mountPoint);
        Path here = MountBoundary.resolve(Host.current().path("."), mountPoints);
        return expected(spec.commandLine(), given, here, mountPoints);
    }

    /**
     * The message with the corrected command. If it has options, whose position is unknown, only with the missing mount
     * point: without its options, the command may do something else.
     *
     * @param command parsed
     * @param given all arguments except options
     * @param here the current folder, {@linkplain MountBoundary#resolve resolved}
     */
    static @Nullable String expected(CommandLine command, List<String> given, Path here, List<Path> mountPoints) {
        Path first = MountBoundary.resolve(here.resolve(given.getFirst()).normalize(), mountPoints);
        Path mount = MountBoundary.around(first, mountPoints).orElse(first);
        if (mount.equals(first)) {
            return null;
        }
        if (!command.getParseResult().matchedOptions().isEmpty()) {
            return Printable.text(
                    "the mount point comes first: give " + ShellWord.of(mount.toString()) + " before the path");
        }
        String corrected = Stream.concat(
                        Stream.of(mount.toString()), given.stream().map(path -> fromAnywhere(path, here, mount)))
                .map(ShellWord::of)
                .collect(Collectors.joining(" "));
        return Printable.text(
                "the mount point comes first: " + command.getCommandSpec().qualifiedName() + " " + corrected);
    }

    /** The path to write after the mount point: outside the mount, relative ones are relative to the mount point. */
    private static String fromAnywhere(String path, Path here, Path mount) {
        Path absolute = here.resolve(path).normalize();
        return here.startsWith(mount) || !absolute.startsWith(mount) ? path : absolute.toString();
    }

    /** @throws ParameterException if there is a path */
    void requireNone(String option) {
        if (!paths.isEmpty()) {
            throw new ParameterException(spec.commandLine(), option + " takes no paths: it starts no job");
        }
    }

    /**
     * Sends a command about these paths to the mount.
     *
     * @param manifest a file with further paths, one per line, - for standard input; null for none
     * @param options the other arguments of the request
     */
    JsonNode ask(ServingMount mount, String command, @Nullable String manifest, Map<String, Object> options)
            throws IOException, RefusedException {
        Map<String, Object> request = new HashMap<>(options);
        List<Path> mountPoints = ServingMount.Mounts.read().points();
        Path here = MountBoundary.resolve(Host.current().path("."), mountPoints);
        List<String> named = paths.stream()
                .map(path -> inMount(mount.mount().mountPoint(), mountPoints, here, path))
                .toList();
        boolean isLong = named.stream().mapToInt(String::length).sum() > MOST_SENT;
        boolean isInput = "-".equals(manifest);
        request.put("paths", isLong ? List.of() : named);
        if (isLong && manifest != null && !isInput) {
            throw new RefusedException("too many paths; put them into the manifest");
        } else if (isLong || isInput) {
            return askByList(mount, command, request, isLong ? named : List.of(), isInput);
        } else if (manifest != null) {
            Path list = Host.current().path(manifest);
            requireReadable(list, mountPoints);
            request.put("list", list.toString());
        }
        return mount.ask(command, request);
    }

    /** A path into a mount is not looked up, as that may hang: the serving process reports whether it is readable. */
    static void requireReadable(Path list, List<Path> mountPoints) throws RefusedException {
        if (!MountBoundary.leadsInto(list, mountPoints) && !Files.isReadable(list)) {
            throw new RefusedException("--manifest " + list + ": no such file, or it cannot be read");
        }
    }

    /**
     * Resolves a path that leads into the mount, as {@code penstock why} does: an absolute one, or one relative to a
     * folder of the mount. Returns any other path unchanged.
     *
     * @param mountPoints those of all mounts: nothing is looked up in them
     * @param here the current folder, {@linkplain MountBoundary#resolve resolved}
     */
    static String inMount(Path mountPoint, List<Path> mountPoints, Path here, String path) {
        boolean isAbsolute = path.startsWith("/");
        if (path.isEmpty() || (!isAbsolute && !here.startsWith(mountPoint))) {
            return path;
        }
        Path named = here.resolve(path).normalize();
        Path resolved = named.startsWith(mountPoint) ? named : MountBoundary.resolve(named, mountPoints);
        if (!resolved.startsWith(mountPoint)) {
            return path;
        } else if (isAbsolute) {
            return resolved.toString();
        }
        return resolved.equals(mountPoint)
                ? "."
                : mountPoint.relativize(resolved).toString();
    }

    /** Passes the paths in a file, which the mount deletes once it has read it, unless it refuses the command. */
    private static JsonNode askByList(
            ServingMount mount, String command, Map<String, Object> request, List<String> listed, boolean isInput)
            throws IOException, RefusedException {
        for (String path : listed) {
            if (path.isBlank() || path.indexOf('\n') >= 0 || path.indexOf('\r') >= 0) {
                throw new RefusedException(
                        "'" + Printable.text(path) + "' is blank or contains a line break, so it cannot be passed in a"
                                + " list; leave it out, or give fewer paths");
            }
        }
        Path list = write(Folders.temporary(), listed, isInput ? System.in : InputStream.nullInputStream());
        boolean isTaken = false;
        try {
            request.put("list", list.toAbsolutePath().toString());
            request.put("isListTemporary", true);
            JsonNode answer = mount.ask(command, request);
            isTaken = true;
            return answer;
        } finally {
            if (!isTaken) {
                Files.deleteIfExists(list);
            }
        }
    }

    /**
     * Creates the file in this folder.
     *
     * @param more standard input, or nothing
     */
    static Path write(Path folder, List<String> listed, InputStream more) throws RefusedException {
        try {
            Path list = Files.createTempFile(folder, "penstock-paths-", ".txt"); // readable by its user only
            try (OutputStream out = Files.newOutputStream(list)) {
                out.write(String.join("\n", listed).concat("\n").getBytes(UTF_8));
                copy(more, out);
                return list;
            } catch (IOException | RefusedException e) {
                Files.deleteIfExists(list);
                throw e;
            }
        } catch (IOException e) {
            throw new RefusedException("the list of paths cannot be written to " + folder + ": " + Reason.of(e)
                    + "; set TMPDIR to another folder");
        }
    }

    /** Distinguishes failures of standard input from those of the file. */
    private static void copy(InputStream input, OutputStream out) throws IOException, RefusedException {
        byte[] buffer = new byte[1 << 16];
        while (true) {
            int count;
            try {
                count = input.read(buffer);
            } catch (IOException e) {
                throw new RefusedException("standard input cannot be read: " + Reason.of(e));
            }
            if (count < 0) {
                return;
            }
            out.write(buffer, 0, count);
        }
    }
}
