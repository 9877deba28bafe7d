package io.penstock.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.objectstore.http.HttpConnection;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PeerConnectionsTest {
    /** For 16 readers of small files and their readahead. */
    private static final int AT_ONCE = 50;

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    @Test
    void connectionsOfManyRequestsAtOnce_waitForTheNext() throws Exception {
        try (ServerSocket node = new ServerSocket(0, 2 * AT_ONCE, InetAddress.getLoopbackAddress());
                PeerConnections connections = connections(node)) {
            List<HttpConnection> used = new ArrayList<>();
            for (int i = 0; i < AT_ONCE; i++) {
                used.add(connections.connect(PATIENCE));
            }
            used.forEach(connection -> connections.giveBack(connection, true));
            assertThat(connections.count()).isEqualTo(AT_ONCE);
            for (int i = 0; i < AT_ONCE; i++) {
                assertThat(used).contains(connections.takeIdle());
            }
        }
    }

    /** The node closes them too, but each keeps a descriptor and memory until this side does. */
    @Test
    void connectionsThatAreNotUsedForLong_areClosed() throws Exception {
        try (ServerSocket node = new ServerSocket(0, AT_ONCE, InetAddress.getLoopbackAddress());
                PeerConnections connections = connections(node)) {
            HttpConnection first = connections.connect(PATIENCE);
            HttpConnection inUse = connections.connect(PATIENCE);
            connections.giveBack(first, true);
            connections.closeLate(System.nanoTime());
            assertThat(connections.count()).isEqualTo(2);
            connections.closeLate(System.nanoTime() + Duration.ofMinutes(1).toNanos());
            assertThat(connections.count()).isOne();
            assertThat(first.isReusable()).isFalse();
            assertThat(inUse.isReusable()).isTrue();
        }
    }

    @Test
    void connect_onceTheyAreClosed_asksTheNodeForNone() throws Exception {
        try (ServerSocketChannel node = ServerSocketChannel.open()) {
            node.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .configureBlocking(false);
            PeerConnections connections = connections(node.socket());
            connections.close();
            assertThatThrownBy(() -> connections.connect(PATIENCE)).isInstanceOf(IOException.class);
            assertThat(node.accept()).isNull();
            assertThat(connections.count()).isZero();
        }
    }

    private static PeerConnections connections(ServerSocket node) {
        return new PeerConnections(new InetSocketAddress(node.getInetAddress(), node.getLocalPort()), null);
    }
}
