package io.penstock.share;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.Urgency;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BucketProof;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class PeerServerTest {
    private static final int MOST = FakeGroup.CONNECTIONS;

    @TempDir
    private Path folder;

    @Test
    void connections_beyondTheLimit_closeBeforeTheirHandshake() throws Exception {
        try (FakeGroup group = new FakeGroup(folder, null)) {
            InetSocketAddress server = group.join("owner").node.socketAddress();
            List<Socket> open = new ArrayList<>();
            for (int i = 0; i < MOST; i++) {
                open.add(connect(server));
            }
            assertThat(isServed(open.getFirst())).isTrue();
            try (Socket more = connect(server)) {
                assertThat(more.getInputStream().read()).isEqualTo(-1);
            }
            for (Socket each : open) {
                each.close();
            }
            TestNode.await("a new connection is served", () -> isServed(server));
        }
    }

    @Test
    void responsesThatBreak_leaveRoomForFurtherConnections() throws Exception {
        try (FakeGroup group = new FakeGroup(folder, null)) {
            FakeGroup.Member owner = group.join("owner");
            InetSocketAddress server = owner.node.socketAddress();
            ObjectVersion file = group.bucket.putTestData("file", OwnedSlabs.SIZE);
            owner.local.readAll(file);
            PeerRequest all = new PeerRequest(TestNode.NAMESPACE, file, new ByteRange(0, file.size()), Urgency.DEMAND);
            byte[] request = ("GET " + all.target() + " HTTP/1.1\r\nHost: x\r\n" + PeerRequest.PROOF
                            + ": right\r\n\r\n")
                    .getBytes(US_ASCII);
            for (int i = 0; i <= MOST; i++) {
                TestNode.await("a response begins", () -> breaksOff(server, request));
            }
            TestNode.await("a new connection is served", () -> isServed(server));
        }
    }

    /** Each byte of a non-ASCII key takes three bytes in the head. */
    @Test
    void request_ofTheLongestKeyWithTheLongestProof_isAnswered() throws Exception {
        try (FakeGroup group = new FakeGroup(folder, null);
                Socket socket = connect(group.join("owner").node.socketAddress())) {
            ObjectVersion file = group.bucket.putTestData("é".repeat(512), 1);
            socket.getOutputStream()
                    .write(StrangersTest.request(file, "x".repeat(BucketProof.LONGEST))
                            .getBytes(US_ASCII));
            assertThat(answer(socket)).isEqualTo(PeerRequest.FORBIDDEN);
        }
    }

    /** The body would be taken for the next request. */
    @Test
    void request_withABody_isRefusedAndTheLast() throws Exception {
        for (String header : List.of("Content-Length: 4", "Transfer-Encoding: chunked")) {
            try (FakeGroup group = new FakeGroup(folder.resolve(header), null);
                    Socket socket = connect(group.join("owner").node.socketAddress())) {
                ObjectVersion file = group.bucket.putTestData("file", 1);
                String request = StrangersTest.request(file, "right").replace("Host: x", header);
                socket.getOutputStream().write((request + request).getBytes(US_ASCII));
                assertThat(answer(socket)).isEqualTo(PeerRequest.MALFORMED);
                assertThat(socket.getInputStream().readAllBytes())
                        .asString(US_ASCII)
                        .doesNotContain("HTTP");
            }
        }
    }

    /** The status of the next response. */
    private static int answer(Socket socket) throws IOException {
        String line = new String(socket.getInputStream().readNBytes(12), US_ASCII);
        assertThat(line).startsWith("HTTP/1.1 ");
        return Integer.parseInt(line.substring(9));
    }

    @Test
    void close_byAnInterruptedThread_leavesItInterrupted() throws Exception {
        try (FakeGroup group = new FakeGroup(folder, null)) {
            PeerServer server = group.join("owner").server;
            Thread.currentThread().interrupt();
            server.close();
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    /** Whether a response begins; its rest is left unread. */
    private static boolean breaksOff(InetSocketAddress server, byte[] request) {
        try (Socket socket = connect(server)) {
            socket.getOutputStream().write(request);
            return new String(socket.getInputStream().readNBytes(12), US_ASCII).equals("HTTP/1.1 " + PeerRequest.OK);
        } catch (IOException e) {
            return false;
        }
    }

    private static Socket connect(InetSocketAddress server) throws IOException {
        return new Socket(server.getAddress(), server.getPort());
    }

    private static boolean isServed(InetSocketAddress server) {
        try (Socket socket = connect(server)) {
            return isServed(socket);
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean isServed(Socket socket) throws IOException {
        socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(US_ASCII));
        return socket.getInputStream().read() >= 0;
    }
}
