package io.penstock.benchmarks;

import io.penstock.fuse.MountException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A process that serves the file {@code f} from memory. {@link #close} unmounts it and ends the process. */
final class BridgeServer implements AutoCloseable {
    private final Process process;
    private final Path mountPoint;

    /** Output of a {@link MemoryServer}; null for the reference, which prints nothing. */
    private final @Nullable BufferedReader said;

    /** The requests and allocations of a server since its start. */
    record Counts(long requests, long allocatedBytes) {}

    private BridgeServer(Process process, Path mountPoint, @Nullable BufferedReader said) {
        this.process = process;
        this.mountPoint = mountPoint;
        this.said = said;
    }

    /** Starts the reference in C. */
    static BridgeServer ofReference(Path program, Path mountPoint, long size) throws Exception {
        Process process = new ProcessBuilder(program.toString(), mountPoint.toString(), Long.toString(size))
                .inheritIO()
                .start();
        if (!Mounts.await(process, mountPoint)) {
            throw new BenchException("the reference does not mount " + mountPoint + "; its reason is above");
        }
        return new BridgeServer(process, mountPoint, null);
    }

    /** @param binding as in {@link io.penstock.fuse.Binding} */
    static BridgeServer ofBinding(String binding, Path mountPoint, Path cache, long size) throws Exception {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-XX:+UseSerialGC",
                "-XX:+UseCompactObjectHeaders",
                "-Xmn48m",
                "-XX:MaxDirectMemorySize=" + 2 * size,
                "-cp",
                System.getProperty("java.class.path"),
                MemoryServer.class.getName(),
                binding,
                mountPoint.toString(),
                cache.toString(),
                Long.toString(size));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BridgeServer server = new BridgeServer(
                process,
                mountPoint,
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII)));
        server.readCounts(); // the first line appears once it is mounted
        return server;
    }

    long pid() {
        return process.pid();
    }

    Path file() {
        return mountPoint.resolve(OneObjectStore.KEY);
    }

    /** Null if this server does not count requests. */
    @Nullable
    Counts counts() throws IOException, BenchException {
        if (said == null) {
            return null;
        }
        PrintStream ask = new PrintStream(process.getOutputStream(), true, StandardCharsets.US_ASCII);
        ask.println();
        return readCounts();
    }

    private Counts readCounts() throws IOException, BenchException {
        String line = said == null ? null : said.readLine();
        if (line == null) {
            throw new BenchException("the server for " + mountPoint + " ended; its reason is above");
        }
        String[] numbers = line.split(" ", 2);
        return new Counts(Long.parseLong(numbers[0]), Long.parseLong(numbers[1]));
    }

    /** SIGTERM ends the reference. It also ends a JVM, but leaves the mount, which is then detached. */
    @Override
    public void close() throws IOException, MountException {
        Mounts.end(process, mountPoint);
    }
}
