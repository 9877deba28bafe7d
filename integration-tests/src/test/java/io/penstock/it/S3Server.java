package io.penstock.it;

import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.embeddeds3.FreePorts;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.testcontainers.containers.MinIOContainer;

/**
 * The S3 server for the tests, which are the same for each: MinIO in a container if there is a Docker engine, else a
 * {@code minio} binary, else S3Proxy in this process. One for all tests of a run; it ends with the JVM.
 */
record S3Server(String name, URI endpoint, String accessKey, String secretKey) {
    private static final String USER = "penstock";
    private static final String PASSWORD = "penstock-secret";
    private static final Duration START = Duration.ofSeconds(60);

    /** Another process may have taken a port that was free when it was chosen. */
    static final int ATTEMPTS_TO_START = 3;

    /** A fixed image, so that a new release does not change a test. */
    private static final String IMAGE = "minio/minio:RELEASE.2025-09-07T16-13-09Z";

    /** The server to use, if one is set: {@code docker}, {@code minio} or {@code s3proxy}. */
    private static final String WANTED =
            Optional.ofNullable(System.getenv("PENSTOCK_TEST_S3")).orElse("");

    private static final class Shared {
        static final S3Server INSTANCE = start();
    }

    static S3Server shared() {
        return Shared.INSTANCE;
    }

    /** Whether it applies a bucket's policy. */
    boolean hasPolicies() {
        return name.startsWith("MinIO");
    }

    /** Whether it reports the sizes of an object's parts. */
    boolean tellsParts() {
        return name.startsWith("MinIO");
    }

    private static S3Server start() {
        try {
            S3Server server = choose();
            System.out.println("integration tests are served by " + server.name + " at " + server.endpoint);
            return server;
        } catch (Exception e) {
            throw new AssertionError("no S3 server for the tests", e);
        }
    }

    private static S3Server choose() throws Exception {
        boolean engine = Files.exists(Path.of("/var/run/docker.sock"));
        if (WANTED.equals("docker") || (WANTED.isEmpty() && engine)) {
            return container();
        }
        Optional<Path> minio = minioBinary();
        if (!WANTED.equals("s3proxy") && minio.isPresent()) {
            return binary(minio.get());
        }
        return embedded();
    }

    private static S3Server container() {
        MinIOContainer minio = new MinIOContainer(IMAGE).withUserName(USER).withPassword(PASSWORD);
        minio.start(); // Testcontainers' reaper ends it with this JVM
        return new S3Server("MinIO in a container", URI.create(minio.getS3URL()), USER, PASSWORD);
    }

    private static Optional<Path> minioBinary() {
        Stream<Path> onPath = Stream.of(System.getenv("PATH").split(":")).map(dir -> Path.of(dir, "minio"));
        Path ours = Path.of(System.getProperty("user.home"), ".cache", "penstock", "bin", "minio");
        Stream<Path> named = Stream.ofNullable(System.getenv("PENSTOCK_MINIO")).map(Path::of);
        return Stream.of(named, onPath, Stream.of(ours))
                .flatMap(paths -> paths)
                .filter(Files::isExecutable)
                .findFirst();
    }

    private static S3Server binary(Path minio) throws Exception {
        for (int attempt = 1; ; attempt++) {
            Path data = scratch();
            Path log = data.resolveSibling(data.getFileName() + ".log");
            URI endpoint = URI.create("http://127.0.0.1:" + FreePorts.one());
            ProcessBuilder builder = new ProcessBuilder(
                            minio.toString(),
                            "server",
                            "--quiet",
                            "--address",
                            endpoint.getAuthority(),
                            data.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile());
            builder.environment().put("MINIO_ROOT_USER", USER);
            builder.environment().put("MINIO_ROOT_PASSWORD", PASSWORD);
            builder.environment().put("MINIO_BROWSER", "off"); // it would take another port
            Process process = builder.start();
            atExit(() -> {
                process.destroy();
                process.waitFor();
                delete(data);
                Files.deleteIfExists(log);
            });
            if (awaitServing(endpoint, process)) {
                return new S3Server("MinIO (" + minio + ")", endpoint, USER, PASSWORD);
            }
            if (attempt == ATTEMPTS_TO_START) {
                throw new IOException("MinIO does not start: " + Files.readString(log));
            }
        }
    }

    private static S3Server embedded() throws Exception {
        Path data = scratch();
        EmbeddedS3 s3 = new EmbeddedS3(data, USER, PASSWORD);
        atExit(() -> {
            s3.close();
            delete(data);
        });
        return new S3Server("S3Proxy in this process", s3.endpoint(), USER, PASSWORD);
    }

    private static Path scratch() throws IOException {
        return Files.createTempDirectory("penstock-it-s3-");
    }

    /** Returns false if the process ends instead. */
    private static boolean awaitServing(URI endpoint, Process process) throws InterruptedException {
        long deadline = System.nanoTime() + START.toNanos();
        while (process.isAlive() && System.nanoTime() < deadline) {
            try {
                URL live = endpoint.resolve("/minio/health/live").toURL();
                if (((HttpURLConnection) live.openConnection()).getResponseCode() == HttpURLConnection.HTTP_OK) {
                    return true;
                }
            } catch (IOException notYet) {
                // or another process listens there
            }
            process.waitFor(50, TimeUnit.MILLISECONDS);
        }
        return false;
    }

    /** A final action that may fail: its failure is printed. */
    private interface Closing {
        void run() throws Exception;
    }

    private static void atExit(Closing closing) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                closing.run();
            } catch (Exception e) {
                System.err.println("the test's S3 server did not end cleanly: " + e);
            }
        }));
    }

    private static void delete(Path tree) throws IOException {
        try (Stream<Path> paths = Files.walk(tree)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
