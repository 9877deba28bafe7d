package io.penstock.serve.mount;

import io.penstock.fuse.MountException;
import io.penstock.fuse.OptionalBinding;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * Finds the binding to libfuse 2: on the class path, or in the folder {@code jnr} next to this class's jar. A mount
 * that does not use it never looks there.
 */
final class LibFuse {
    private static final ClassLoader OURS = LibFuse.class.getClassLoader();

    private LibFuse() {}

    /** @throws MountException if it is not installed */
    static OptionalBinding binding() throws MountException {
        Optional<OptionalBinding> found = find(OURS);
        if (found.isPresent()) {
            return found.get();
        }
        try {
            Path jar = Path.of(LibFuse.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            Path folder = jar.resolveSibling("jnr");
            return find(new URLClassLoader(jars(folder), OURS)) // never closed: the mount uses it until it ends
                    .orElseThrow(() -> new MountException("the binding jnr is not installed in " + folder
                            + ". Build or install Penstock again, or mount with: --binding kernel"));
        } catch (IOException | URISyntaxException e) {
            throw new MountException("the binding jnr cannot be loaded: " + e + ". Mount with: --binding kernel", e);
        }
    }

    private static Optional<OptionalBinding> find(ClassLoader loader) {
        return ServiceLoader.load(OptionalBinding.class, loader).findFirst();
    }

    /** None if there is no such folder. */
    private static URL[] jars(Path folder) throws IOException {
        List<URL> jars = new ArrayList<>();
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.jar")) {
                for (Path file : files) {
                    jars.add(file.toUri().toURL());
                }
            } catch (DirectoryIteratorException e) {
                throw e.getCause();
            }
        }
        return jars.toArray(URL[]::new);
    }
}
