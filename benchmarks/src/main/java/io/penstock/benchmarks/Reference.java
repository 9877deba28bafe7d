package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The server in C to which bindings and names are compared. */
final class Reference {
    private Reference() {}

    /** Compiles it; empty, with a message, if that is not possible. */
    static Optional<Path> compile(Path home, Scratch scratch) throws InterruptedException {
        Path source = home.resolve("benchmarks/src/main/c/memory_server.c");
        Path program = scratch.root().resolve("memory_server");
        try {
            Programs.run(List.of(
                    "bash",
                    "-c",
                    "gcc -O2 \"$1\" -o \"$2\" $(pkg-config --cflags --libs fuse3)",
                    "bash",
                    source.toString(),
                    program.toString()));
            return Optional.of(program);
        } catch (IOException e) {
            System.err.println("bench: without the reference in C, which takes gcc, pkg-config and libfuse3-dev: "
                    + e.getMessage());
            return Optional.empty();
        }
    }
}
