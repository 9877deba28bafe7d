package io.penstock.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.core.Digests;
import io.penstock.settings.Host;
import io.penstock.settings.process.Folders;
import io.penstock.settings.process.Launcher;
import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
import io.penstock.settings.process.Version;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "install",
        description = {
            "Makes penstock and mount -t penstock work from anywhere, fstab included.",
            "",
            "Copies this Penstock to /usr/local/lib/penstock, so that root runs only files owned by root at"
                    + " boot, and links /usr/local/bin/penstock, /sbin/mount.penstock and /sbin/mount.fuse.penstock to"
                    + " it. Install again after an update. --remove removes everything. Running mounts keep the version"
                    + " they were started from."
        })
final class InstallCommand implements Callable<Integer> {
    private static final Path ROOT = Path.of("/");

    /** Where the .deb and the .rpm have their versions. */
    private static final Path PACKAGED = Path.of("/usr/lib/penstock");

    /** Files that make it start faster; they may be missing. */
    private static final Set<String> CACHES = Set.of("penstock.aot", "penstock.aot.commands", "penstock.aot.stamp");

    /** The program that restarts mounts, which is missing if there was no compiler, and an archive's lists of classes. */
    private static final Set<String> OTHERS = Set.of("penstock-supervisor", "classes", "classes.commands");

    /** The length of the digest in a version's name. */
    private static final int DIGEST_BYTES = 6;

    private static final String STAMP = ".stamp";

    /** The argument by which bin/penstock passes its folder to each JVM. */
    private static final String HOME_ARGUMENT = "-Dpenstock.home=";

    @Option(names = "--remove", description = "Remove the installation.")
    private boolean remove;

    @Override
    public Integer call() throws RefusedException {
        if (!Host.current().isRoot()) {
            throw new RefusedException("only root can do this: sudo " + Launcher.command() + " install");
        }
        Path home = Launcher.home();
        if (home == null) {
            throw new RefusedException("run this through bin/penstock, which knows where Penstock is");
        }
        if (home.startsWith(PACKAGED)) {
            throw new RefusedException("a package has installed this Penstock; remove it by the package manager");
        }
        Installation installation = new Installation(ROOT, ROOT.resolve("proc"));
        try {
            (remove ? installation.remove() : installation.install(home)).forEach(System.out::println);
        } catch (IOException e) {
            throw new RefusedException(Reason.of(e));
        }
        return ExitCode.DONE;
    }

    /**
     * The places of an installation: a folder for each version, and a link to the current one. A version is named after
     * its content, and never changes. Processes load classes from the folder that they were started from, at any time,
     * so it stays until they have ended.
     *
     * @param root {@code /}, except in tests
     * @param proc where procfs is mounted
     */
    record Installation(Path root, Path proc) {
        private Path prefix() {
            return root.resolve("usr/local/lib/penstock");
        }

        private Path current() {
            return prefix().resolve("current");
        }

        /** Each link with its target. On most distributions mount(8) looks for helpers in /sbin only. */
        private Map<Path, Path> links() {
            return Map.of(
                    root.resolve("usr/local/bin/penstock"), current().resolve("bin/penstock"),
                    root.resolve("sbin/mount.penstock"), current().resolve("bin/mount.penstock"),
                    // For the type under which mounts are shown.
                    root.resolve("sbin/mount.fuse.penstock"), current().resolve("bin/mount.penstock"));
        }

        /**
         * Copies the files next to other versions, and makes the copy the current version once it is complete.
         *
         * @return the steps done, one line each
         */
        List<String> install(Path home) throws IOException, RefusedException {
            checkLinks();
            Path version = home;
            if (!Files.exists(prefix()) || !Files.isSameFile(home.toRealPath().getParent(), prefix())) {
                Set<Path> files = files(home);
                version = prefix().resolve(Version.number() + "-" + digest(home, files));
                if (!Files.exists(version)) {
                    Path next = prefix().resolve("new");
                    deleteIfThere(next);
                    copy(home, files, next);
                    Files.move(next, version, StandardCopyOption.ATOMIC_MOVE);
                }
            }
            link(current(), version.getFileName());
            for (Map.Entry<Path, Path> link : links().entrySet()) {
                link(link.getKey(), link.getValue());
            }
            List<String> steps = new ArrayList<>(List.of(
                    "installed " + version,
                    "linked "
                            + String.join(
                                    ", ",
                                    links().keySet().stream()
                                            .map(Path::toString)
                                            .sorted()
                                            .toList())));
            steps.addAll(removeUnused(version));
            return steps;
        }

        List<String> remove() throws IOException, RefusedException {
            checkLinks();
            for (Path link : links().keySet()) {
                Files.deleteIfExists(link);
            }
            Files.deleteIfExists(current());
            List<String> kept = Files.exists(prefix()) ? removeUnused(null) : List.of();
            List<String> steps = new ArrayList<>(List.of("removed " + prefix() + " and the links to it"));
            if (kept.isEmpty()) {
                deleteIfThere(prefix());
            }
            steps.addAll(kept);
            return steps;
        }

        private void checkLinks() throws RefusedException {
            for (Path link : links().keySet()) {
                if (Files.exists(link, LinkOption.NOFOLLOW_LINKS) && !Files.isSymbolicLink(link)) {
                    throw new RefusedException(
                            link + " exists and is not a link: it does not belong to Penstock, and is left unchanged");
                }
            }
        }

        /** Replaces it in one step: a mount that starts at that moment finds the old version or the new one. */
        private static void link(Path link, Path target) throws IOException {
            Files.createDirectories(link.getParent());
            Path next = link.resolveSibling(link.getFileName() + ".new");
            Files.deleteIfExists(next);
            Files.createSymbolicLink(next, target);
            Files.move(next, link, StandardCopyOption.ATOMIC_MOVE);
        }

        /** @return a line for each version that stays because a process runs from it */
        private List<String> removeUnused(@Nullable Path version) throws IOException {
            Path prefix = prefix().toRealPath();
            Map<Path, Long> users = users();
            List<String> kept = new ArrayList<>();
            try (Stream<Path> entries = Files.list(prefix())) {
                for (Path entry : entries.sorted().toList()) {
                    // Before versions had folders, processes were started from the prefix itself.
                    Long user = users.getOrDefault(prefix.resolve(entry.getFileName()), users.get(prefix));
                    boolean isCurrent = entry.equals(version) || entry.equals(current());
                    if (user == null && !isCurrent) {
                        Folders.delete(entry);
                    } else if (!isCurrent) {
                        kept.add("kept " + entry + ": process " + user
                                + " still runs from it; install or install --remove deletes it once that has ended");
                    }
                }
            }
            return kept;
        }

        /** The folders from which other processes were started, each with one of those processes. */
        private Map<Path, Long> users() throws IOException {
            Map<Path, Long> users = new HashMap<>();
            try (DirectoryStream<Path> processes = Files.newDirectoryStream(proc, "[1-9]*")) {
                for (Path process : processes) {
                    long pid = Long.parseLong(process.getFileName().toString());
                    for (String argument : commandLine(process).split("\0", -1)) {
                        if (argument.startsWith(HOME_ARGUMENT)
                                && pid != ProcessHandle.current().pid()) {
                            users.put(Path.of(argument.substring(HOME_ARGUMENT.length())), pid);
                        }
                    }
                }
            }
            return users;
        }

        private static String commandLine(Path process) {
            try {
                return new String(Files.readAllBytes(process.resolve("cmdline")), UTF_8);
            } catch (IOException e) {
                return ""; // It has ended.
            }
        }

        private static void deleteIfThere(Path folder) throws IOException {
            if (Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
                Folders.delete(folder);
            }
        }

        /**
         * All files and folders that run, relative to home, folders before their content.
         *
         * @throws RefusedException if one is a link: all users may read the copy, so it must not have the link's target
         */
        private static Set<Path> files(Path home) throws IOException, RefusedException {
            Set<Path> files = new TreeSet<>();
            Path built = home.relativize(Launcher.built(home));
            List<Path> parts = new ArrayList<>(List.of(Path.of("bin"), built.resolve("lib")));
            if (built.toString().isEmpty()) {
                parts.add(Path.of("runtime"));
            }
            for (Path part : parts) {
                for (Path above = part.getParent(); above != null; above = above.getParent()) {
                    files.add(above);
                }
                try (Stream<Path> below = Files.walk(home.resolve(part))) {
                    below.map(home::relativize).forEach(files::add);
                }
            }
            Stream.concat(CACHES.stream(), OTHERS.stream())
                    .map(built::resolve)
                    .filter(file -> Files.exists(home.resolve(file)))
                    .forEach(files::add);
            for (Path file : files) {
                BasicFileAttributes attributes = attributes(home.resolve(file));
                if (!attributes.isRegularFile() && !attributes.isDirectory()) {
                    throw new RefusedException(home.resolve(file) + " is a link or a special file, but only files and"
                            + " folders in " + home + " are installed; replace it with its target");
                }
            }
            return files;
        }

        private static BasicFileAttributes attributes(Path file) throws IOException {
            return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        }

        /** Caches count only by their stamp, and by whether recording them worked: no two recordings are equal. */
        private static String digest(Path home, Set<Path> files) throws IOException {
            MessageDigest digest = Digests.sha256();
            for (Path file : files) {
                Path from = home.resolve(file);
                digest.update((file + "\n" + Files.isExecutable(from) + (Files.size(from) > 0)).getBytes(UTF_8));
                if (Files.isRegularFile(from)
                        && (CACHES.stream().noneMatch(file::endsWith)
                                || file.toString().endsWith(STAMP))) {
                    digest.update(Files.readAllBytes(from));
                }
            }
            return HexFormat.of().formatHex(digest.digest(), 0, DIGEST_BYTES);
        }

        /** New files belong to the installing user, not to the owner of the originals. */
        private static void copy(Path home, Set<Path> files, Path to) throws IOException {
            Files.createDirectories(to);
            for (Path file : files) {
                Path from = home.resolve(file);
                Path made = Files.copy(from, to.resolve(file), LinkOption.NOFOLLOW_LINKS);
                if (Files.isRegularFile(made, LinkOption.NOFOLLOW_LINKS)) {
                    Files.setLastModifiedTime(made, attributes(from).lastModifiedTime());
                }
                Files.setPosixFilePermissions(
                        made, PosixFilePermissions.fromString(Files.isExecutable(from) ? "rwxr-xr-x" : "rw-r--r--"));
            }
            for (Path made : List.of(to, to.getParent())) {
                Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rwxr-xr-x"));
            }
        }
    }
}
