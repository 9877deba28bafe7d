package io.penstock.it;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.embeddeds3.FreePorts;
import io.penstock.testing.TestData;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A mount with a small heap, whose ports strangers can reach. */
@Timeout(300)
final class StrangersIT {
    private static final S3Server SERVER = S3Server.shared();
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");
    private static final Map<String, String> SMALL_HEAP = Map.of("PENSTOCK_JAVA_OPTS", "-Xmx96m");

    /** JGroups' cookie and version, and an address that a node claims. */
    private static final byte[] HELLO = ByteBuffer.allocate(15)
            .put("bela".getBytes(ISO_8859_1))
            .putShort((short) 10_567)
            .putShort((short) 7)
            .put(new byte[] {4, 127, 0, 0, 1, 1, 1})
            .array();

    /** A message of 2 GiB, in a frame of 14 bytes. */
    private static final byte[] LIE = ByteBuffer.allocate(18)
            .putInt(14)
            .putShort((short) 10_567)
            .put(new byte[8])
            .putInt(Integer.MAX_VALUE)
            .array();

    @TempDir
    private Path scratch;

    @Test
    void mount_whosePortsStrangersReach_servesOn_andSaysOnceWhatCame() throws Exception {
        int port = FreePorts.first(3, "127.0.0.1");
        TestData file = TestData.of("file.bin", 9_000_001);
        List<Socket> open = new ArrayList<>();
        try (TestBucket bucket = new TestBucket(SERVER)) {
            bucket.put(file);
            MountedBucket.Launch launch = new MountedBucket.Launch(List.of(), SMALL_HEAP);
            String[] options = {
                "--share-peers",
                "127.0.0.1:" + port,
                "--share-listen",
                "127.0.0.1:" + port,
                "-o",
                "share.insecure",
                "--metrics",
                "127.0.0.1:" + (port + 2)
            };
            try (MountedBucket mount = MountedBucket.mount(launch, SERVER, bucket.name(), scratch, options)) {
                Await.until("the group's port is open", () -> isOpen(port + 1));
                for (int i = 0; i < 10; i++) {
                    try (Socket socket = new Socket(LOOPBACK, port + 1)) {
                        socket.getOutputStream().write(HELLO);
                        socket.getOutputStream().write(LIE);
                        assertThat(socket.getInputStream().readAllBytes()).hasSizeLessThanOrEqualTo(4); // its goodbye
                    }
                }
                for (int i = 0; i < 40; i++) {
                    open.add(send(port + 1, ""));
                    open.add(send(port, "GET /" + "a".repeat(100_000)));
                    open.add(send(port + 2, "GET /metrics HTTP/1.1\r\nX: " + "a".repeat(15_000)));
                }

                assertThat(scrape(port + 2)).contains("penstock_uptime_seconds");
                CacheGroup.verify(mount, List.of(file));
                assertThat(mount.process().isAlive()).isTrue();
                assertThat(mount.log().lines().filter(line -> line.contains("a message that no node sends")))
                        .as(mount.log())
                        .hasSize(1);
            }
        } finally {
            for (Socket each : open) {
                each.close();
            }
        }
    }

    private static String scrape(int port) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            URI metrics = URI.create("http://127.0.0.1:" + port + "/metrics");
            return client.send(HttpRequest.newBuilder(metrics).build(), BodyHandlers.ofString())
                    .body();
        }
    }

    private static Socket send(int port, String text) throws IOException {
        Socket socket = new Socket(LOOPBACK, port);
        try {
            socket.getOutputStream().write(text.getBytes(ISO_8859_1));
        } catch (IOException e) {
            // it was refused
        }
        return socket;
    }

    private static boolean isOpen(int port) {
        try (Socket _ = new Socket(LOOPBACK, port)) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
