package io.penstock.it;

import eu.rekawek.toxiproxy.Proxy;
import eu.rekawek.toxiproxy.ToxiproxyClient;
import eu.rekawek.toxiproxy.model.Toxic;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** A network between mount and server that a test makes misbehave: a Toxiproxy process, ended by {@link #close}. */
final class ToxicWire implements AutoCloseable {
    private static final long START_NANOS = 30_000_000_000L;

    private final Process process;
    private final Proxy proxy;
    private final S3Server behind;

    private ToxicWire(Process process, Proxy proxy, S3Server behind) {
        this.process = process;
        this.proxy = proxy;
        this.behind = behind;
    }

    /** Empty if there is no Toxiproxy: bin/test gets one where Go is installed. */
    static Optional<Path> binary() {
        Path ours = Path.of(System.getProperty("user.home"), ".cache", "penstock", "bin", "toxiproxy-server");
        return Stream.concat(
                        Stream.ofNullable(System.getenv("PENSTOCK_TOXIPROXY")).map(Path::of), Stream.of(ours))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** @param scratch for its log */
    static ToxicWire to(S3Server server, Path binary, Path scratch) throws Exception {
        for (int attempt = 1; ; attempt++) {
            int control = freePort();
            Process process = new ProcessBuilder(binary.toString(), "-host", "127.0.0.1", "-port", "" + control)
                    .redirectErrorStream(true)
                    .redirectOutput(scratch.resolve("toxiproxy.log").toFile())
                    .start();
            try {
                Proxy proxy = createProxy(control, process, server);
                URI here = URI.create("http://" + proxy.getListen());
                return new ToxicWire(
                        process, proxy, new S3Server(server.name(), here, server.accessKey(), server.secretKey()));
            } catch (Exception e) {
                process.destroy();
                if (attempt == S3Server.ATTEMPTS_TO_START) {
                    throw e;
                }
            }
        }
    }

    private static Proxy createProxy(int control, Process process, S3Server server) throws Exception {
        ToxiproxyClient client = new ToxiproxyClient("127.0.0.1", control);
        long deadline = System.nanoTime() + START_NANOS;
        while (true) {
            try {
                return client.createProxy(
                        "s3", "127.0.0.1:" + freePort(), server.endpoint().getAuthority());
            } catch (IOException notYet) { // or another process has taken the port meanwhile
                if (!process.isAlive() || System.nanoTime() > deadline) {
                    throw notYet;
                }
                Thread.sleep(50);
            }
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    /** The server as seen through this. */
    S3Server server() {
        return behind;
    }

    Proxy proxy() {
        return proxy;
    }

    /** Removes all faults. */
    void heal() throws IOException {
        for (Toxic toxic : proxy.toxics().getAll()) {
            toxic.remove();
        }
        proxy.enable();
    }

    @Override
    public void close() {
        process.destroy();
    }
}
