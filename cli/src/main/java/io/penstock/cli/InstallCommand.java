package io.penstock.cli;

import io.penstock.cli.config.Host;
import io.penstock.cli.process.Folders;
import io.penstock.cli.process.Launcher;
import io.penstock.cli.process.Reason;
import io.penstock.cli.process.RefusedException;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "install",
        description = {
            "Makes penstock and mount -t penstock work from anywhere, fstab included.",
            "",
            "Copies this Penstock to /usr/local/lib/penstock, so that root runs only files of root at boot,"
                    + " and links /usr/local/bin/penstock and /sbin/mount.penstock to it. Install again after an"
                    + " update. --remove takes all three away."
        })
final class InstallCommand implements Callable<Integer> {
    private static final Path ROOT = Path.of("/");

    /** The files that run, below the folder of an installation. Other files of a build are not copied. */
    private static final List<Path> PARTS = List.of(Path.of("bin"), Path.of("cli/target/penstock"));

    /** The AOT cache belongs to the jars at their place: the installation makes its own. */
    private static final String AOT_CACHE = "penstock.aot";

    @Option(names = "--remove", description = "Take the installation away.")
    private boolean remove;

    @Override
    public Integer call() throws RefusedException {
        if (!Host.current().isRoot()) {
            throw new RefusedException("only root can do this: sudo " + Launcher.command() + " install");
        }
        Path home = Launcher.home();
        if (home == null) {
            throw new RefusedException("start this by bin/penstock, which knows where Penstock is");
        }
        Installation installation = new Installation(ROOT);
        try {
            (remove ? installation.remove() : installation.install(home)).forEach(System.out::println);
        } catch (IOException e) {
            throw new RefusedException(Reason.of(e));
        }
        return ExitCode.DONE;
    }

    /**
     * The places of an installation.
     *
     * @param root {@code /}, but for tests
     */
    record Installation(Path root) {
        private Path prefix() {
            return root.resolve("usr/local/lib/penstock");
        }

        /** Each link with its target. On most distributions mount(8) looks for helpers in /sbin only. */
        private Map<Path, Path> links() {
            return Map.of(
                    root.resolve("usr/local/bin/penstock"), prefix().resolve("bin/penstock"),
                    root.resolve("sbin/mount.penstock"), prefix().resolve("bin/mount.penstock"),
                    // For the type that mounts are shown with.
                    root.resolve("sbin/mount.fuse.penstock"), prefix().resolve("bin/mount.penstock"));
        }

        /**
         * Copies the files beside an earlier installation, and replaces that one when the copy is complete. A running
         * mount keeps the files that it has open.
         *
         * @return the steps done, a line each
         */
        List<String> install(Path home) throws IOException, RefusedException {
            checkLinks();
            if (!home.equals(prefix())) {
                Path next = prefix().resolveSibling("penstock.new");
                Path old = prefix().resolveSibling("penstock.old");
                deleteIfThere(next);
                deleteIfThere(old);
                for (Path part : PARTS) {
                    copy(home.resolve(part), next.resolve(part));
                }
                if (Files.exists(prefix(), LinkOption.NOFOLLOW_LINKS)) {
                    Files.move(prefix(), old, StandardCopyOption.ATOMIC_MOVE);
                }
                Files.move(next, prefix(), StandardCopyOption.ATOMIC_MOVE);
                deleteIfThere(old);
            }
            for (Map.Entry<Path, Path> link : links().entrySet()) {
                Files.createDirectories(link.getKey().getParent());
                Files.deleteIfExists(link.getKey());
                Files.createSymbolicLink(link.getKey(), link.getValue());
            }
            return List.of(
                    "copied " + home + " to " + prefix(),
                    "linked "
                            + String.join(
                                    ", ",
                                    links().keySet().stream()
                                            .map(Path::toString)
                                            .sorted()
                                            .toList()));
        }

        List<String> remove() throws IOException, RefusedException {
            checkLinks();
            for (Path link : links().keySet()) {
                Files.deleteIfExists(link);
            }
            deleteIfThere(prefix());
            return List.of("removed " + prefix() + " and the links to it");
        }

        private void checkLinks() throws RefusedException {
            for (Path link : links().keySet()) {
                if (Files.exists(link, LinkOption.NOFOLLOW_LINKS) && !Files.isSymbolicLink(link)) {
                    throw new RefusedException(link + " is there and no link: it is not of Penstock, and stays");
                }
            }
        }

        private static void deleteIfThere(Path folder) throws IOException {
            if (Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
                Folders.delete(folder);
            }
        }

        /** New files belong to the installing user, not to the owner of the originals. */
        private static void copy(Path from, Path to) throws IOException {
            Files.walkFileTree(from, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes)
                        throws IOException {
                    Path made = Files.createDirectories(to.resolve(from.relativize(folder)));
                    Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rwxr-xr-x"));
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    if (!file.getFileName().toString().startsWith(AOT_CACHE)) {
                        Path made = Files.copy(file, to.resolve(from.relativize(file)));
                        Files.setLastModifiedTime(made, attributes.lastModifiedTime());
                        Files.setPosixFilePermissions(
                                made,
                                PosixFilePermissions.fromString(Files.isExecutable(file) ? "rwxr-xr-x" : "rw-r--r--"));
                    }
                    return FileVisitResult.CONTINUE;
                }
            });
        }
    }
}
