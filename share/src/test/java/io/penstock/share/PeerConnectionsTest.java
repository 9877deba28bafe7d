package io.penstock.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.objectstore.HttpConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PeerConnectionsTest {
    /** Of 16 readers of small files, and of what is read ahead for them. */
    private static final int AT_ONCE = 50;

    @Test
    void connectionsOfManyRequestsAtOnce_waitForTheNext() throws Exception {
        try (ServerSocket node = new ServerSocket(0, 2 * AT_ONCE, InetAddress.getLoopbackAddress());
                PeerConnections connections =
                        new PeerConnections(new InetSocketAddress(node.getInetAddress(), node.getLocalPort()), null)) {
            List<HttpConnection> used = new ArrayList<>();
            for (int i = 0; i < AT_ONCE; i++) {
                used.add(connections.take(Duration.ofSeconds(10)));
            }
            used.forEach(connection -> connections.giveBack(connection, true));
            assertThat(connections.count()).isEqualTo(AT_ONCE);
            for (int i = 0; i < AT_ONCE; i++) {
                assertThat(used).contains(connections.take(Duration.ofSeconds(10)));
            }
        }
    }
}
