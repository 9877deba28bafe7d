package io.penstock.benchmarks;

import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.embeddeds3.FreePorts;
import io.penstock.embeddeds3.OwnCertificate;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Servers that a benchmark starts if none is specified: MinIO if it is installed, otherwise S3Proxy. */
final class OwnServers {
    private static final S3Target.Keys KEYS = new S3Target.Keys("penstock", "penstock-secret");
    private static final String REGION = "us-east-1";
    private static final long START_SECONDS = 60;

    private OwnServers() {}

    /**
     * @param data an existing folder for the objects
     * @param certificate for HTTPS; null for plain HTTP
     * @param resources stops the server
     */
    static S3Target start(Path data, @Nullable OwnCertificate certificate, Resources resources)
            throws IOException, InterruptedException {
        Optional<Path> minio = findMinio();
        return minio.isPresent()
                ? minio(minio.get(), data, certificate, resources)
                : embedded(data, certificate, resources);
    }

    private static Optional<Path> findMinio() {
        Stream<Path> named = Stream.ofNullable(System.getenv("PENSTOCK_MINIO")).map(Path::of);
        Stream<Path> onPath = Stream.of(System.getenv("PATH").split(":")).map(folder -> Path.of(folder, "minio"));
        Stream<Path> cached = Stream.of(Path.of(System.getProperty("user.home"), ".cache", "penstock", "bin", "minio"));
        return Stream.of(named, onPath, cached)
                .flatMap(paths -> paths)
                .filter(path -> Files.isRegularFile(path) && Files.isExecutable(path))
                .findFirst();
    }

    private static S3Target minio(Path binary, Path data, @Nullable OwnCertificate certificate, Resources resources)
            throws IOException, InterruptedException {
        int port = FreePorts.one();
        Path log = data.resolveSibling("minio.log");
        ProcessBuilder builder = new ProcessBuilder(
                        binary.toString(), "server", "--quiet", "--address", "127.0.0.1:" + port, data.toString())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().put("MINIO_ROOT_USER", KEYS.accessKeyId());
        builder.environment().put("MINIO_ROOT_PASSWORD", KEYS.secretAccessKey());
        builder.environment().put("MINIO_BROWSER", "off");
        if (certificate != null) {
            builder.command().add("--certs-dir");
            builder.command().add(certificatesForMinio(certificate).toString());
        }
        // For ServerRequests.
        builder.environment().put("MINIO_PROMETHEUS_AUTH_TYPE", "public");
        Process process = builder.start();
        resources.add(() -> {
            process.destroy();
            process.waitFor();
        });
        awaitListening(port, process, log);
        return own("MinIO", port, certificate);
    }

    private static S3Target embedded(Path data, @Nullable OwnCertificate certificate, Resources resources)
            throws IOException {
        EmbeddedS3 server =
                resources.add(new EmbeddedS3(data, KEYS.accessKeyId(), KEYS.secretAccessKey(), certificate));
        return own(
                "S3Proxy, in the process of the raw ceilings", server.endpoint().getPort(), certificate);
    }

    private static S3Target own(String name, int port, @Nullable OwnCertificate certificate) {
        URI endpoint = URI.create((certificate == null ? "http" : "https") + "://127.0.0.1:" + port);
        return new S3Target(
                name, endpoint, REGION, true, KEYS, certificate == null ? null : certificate.caFile(), true);
    }

    /** MinIO needs the key as PEM, which keytool does not write. */
    private static Path certificatesForMinio(OwnCertificate certificate) throws IOException {
        Path folder = certificate.caFile().resolveSibling("minio");
        Files.createDirectories(folder);
        Files.copy(certificate.caFile(), folder.resolve("public.crt"));
        Files.writeString(folder.resolve("private.key"), certificate.keyAsPem());
        return folder;
    }

    private static void awaitListening(int port, Process process, Path log) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (true) {
            try (Socket _ = new Socket(InetAddress.getLoopbackAddress(), port)) {
                return;
            } catch (IOException e) {
                if (!process.isAlive() || System.nanoTime() > deadline) {
                    throw new IOException("MinIO does not start:\n" + Files.readString(log), e);
                }
            }
            Thread.sleep(50);
        }
    }
}
