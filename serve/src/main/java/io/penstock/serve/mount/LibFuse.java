package io.penstock.serve.mount;

import io.penstock.fuse.MountException;
import io.penstock.fuse.OptionalBinding;
import io.penstock.settings.process.Version;
import java.net.MalformedURLException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
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
            Path binding = folder.resolve("penstock-fuse-jnr-" + Version.number() + ".jar");
            URL[] urls = {binding.toUri().toURL()};
            return find(new URLClassLoader(urls, OURS)) // never closed: the mount uses it until it ends
                    .orElseThrow(() -> new MountException("the binding jnr is not installed in " + folder
                            + ". Build or install Penstock again, or mount with: --binding kernel"));
        } catch (MalformedURLException | URISyntaxException e) {
            throw new MountException("the binding jnr cannot be loaded: " + e + ". Mount with: --binding kernel", e);
        }
    }

    private static Optional<OptionalBinding> find(ClassLoader loader) {
        return ServiceLoader.load(OptionalBinding.class, loader).findFirst();
    }
}
