package io.penstock.objectstore.s3;

import java.io.File;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A MinIO for one test, if the machine has one: named by PENSTOCK_MINIO, on the PATH, or cached. */
public final class MinioServer implements AutoCloseable {
    public static final String ACCESS_KEY = "penstock-test";
    public static final String SECRET_KEY = "penstock-test-secret";
    private static final int ATTEMPTS_TO_START = 3;
    private static final long START_SECONDS = 30;

    private final Process process;
    private final URI endpoint;

    private MinioServer(Process process, URI endpoint) {
        this.process = process;
        this.endpoint = endpoint;
    }

    /** The location of the program, if there is one. */
    public static Optional<Path> program() {
        Stream<@Nullable String> path =
                Stream.of(System.getenv("PATH").split(File.pathSeparator)).map(folder -> folder + "/minio");
        String cached = System.getProperty("user.home") + "/.cache/penstock/bin/minio";
        return Stream.concat(Stream.concat(Stream.ofNullable(System.getenv("PENSTOCK_MINIO")), path), Stream.of(cached))
                .map(Path::of)
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** Starts the program on a free port, over a folder, with the extra environment of {@code certificates} if any. */
    public static MinioServer start(Path program, Path folder) throws IOException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            URI endpoint = URI.create("http://127.0.0.1:" + freePort());
            ProcessBuilder builder = new ProcessBuilder(
                            program.toString(),
                            "server",
                            "--quiet",
                            "--address",
                            endpoint.getAuthority(),
                            "--console-address",
                            "127.0.0.1:0",
                            folder.resolve("data").toString())
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("minio.log").toFile());
            builder.environment().put("MINIO_ROOT_USER", ACCESS_KEY);
            builder.environment().put("MINIO_ROOT_PASSWORD", SECRET_KEY);
            builder.environment().put("MINIO_BROWSER", "off");
            MinioServer server = new MinioServer(builder.start(), endpoint);
            if (server.awaitReady()) {
                return server;
            }
            server.close();
            // The port was free when it was chosen, but another process may have taken it since.
            if (attempt == ATTEMPTS_TO_START) {
                throw new IOException("MinIO does not start: " + Files.readString(folder.resolve("minio.log")));
            }
        }
    }

    /** The address on which it listens. */
    public URI endpoint() {
        return endpoint;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    private boolean awaitReady() throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (process.isAlive() && System.nanoTime() < deadline) {
            try {
                URI live = endpoint.resolve("/minio/health/live");
                if (((HttpURLConnection) live.toURL().openConnection()).getResponseCode()
                        == HttpURLConnection.HTTP_OK) {
                    return true;
                }
            } catch (IOException _) {
                // not yet
            }
            process.waitFor(50, TimeUnit.MILLISECONDS);
        }
        return false;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
