package io.penstock.it;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** Programs of the tests. */
final class Resources {
    private Resources() {}

    /** Copies the program of this name to the folder, for an interpreter to read. */
    static Path copy(String name, Path folder) throws IOException {
        Path copy = folder.resolve(name);
        try (InputStream in = Objects.requireNonNull(Resources.class.getResourceAsStream(name))) {
            Files.copy(in, copy);
        }
        return copy;
    }
}
