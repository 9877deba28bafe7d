package io.penstock.share;

import static java.util.Objects.requireNonNull;

import io.penstock.objectstore.http.TlsEngine;
import io.penstock.testing.InMemoryObjectStore;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A node in its own process, with a small heap and the launcher's options, so that it dies if a stranger makes it run
 * out of memory. The test owns its proof and its bucket.
 */
final class AttackedNode {
    static final String KEY = "file";
    static final long SIZE = 3L << 20;

    final InetSocketAddress listen = FakeGroup.freeAddress();
    final Process process;

    /**
     * @param folder an empty folder
     * @param tls null for a group in the clear
     */
    AttackedNode(Path folder, @Nullable TlsFiles tls) throws IOException {
        process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx96m",
                        "-XX:+UseSerialGC",
                        "-XX:+ExitOnOutOfMemoryError",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        AttackedNode.class.getName(),
                        folder.toString(),
                        "" + listen.getPort(),
                        tls == null ? "" : tls.engine().name(),
                        tls == null ? "" : tls.authority().toString(),
                        tls == null ? "" : tls.certificate().toString(),
                        tls == null ? "" : tls.key().toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        int ready = process.getInputStream().read();
        if (ready != '.') {
            throw new IOException("the node ended: " + process.onExit().join().exitValue());
        }
    }

    /** Serves until its standard input ends. */
    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        InetSocketAddress listen =
                new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), Integer.parseInt(arguments[1]));
        InMemoryObjectStore bucket = new InMemoryObjectStore();
        bucket.putTestData(KEY, SIZE);
        TestNode node = new TestNode(folder, bucket);
        TlsFiles tls = arguments[2].isEmpty()
                ? null
                : new TlsFiles(
                        Path.of(arguments[3]),
                        Path.of(arguments[4]),
                        Path.of(arguments[5]),
                        TlsEngine.valueOf(arguments[2]));
        ShareConfig config = new ShareConfig(
                new Discovery.Addresses(List.of()), listen, folder.resolve("id"), tls, 0, TestNode.NAMESPACE);
        ShareGroup _ = ShareGroup.start(config, node.fetcher, new FakeProof());
        System.out.print('.');
        System.out.flush();
        int _ = System.in.read();
        Runtime.getRuntime().halt(0);
    }

    InetSocketAddress group() {
        return new InetSocketAddress(requireNonNull(listen.getAddress()), listen.getPort() + 1);
    }

    void end() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor(1, TimeUnit.MINUTES);
    }
}
