package io.penstock.share;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.objectstore.http.RequestHead;
import io.penstock.objectstore.http.ServerConnection;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How long strangers can hold a connection, with a clock on which a minute takes a quarter of a second. */
@Timeout(60)
class PeerListenerTest {
    private static final byte[] REQUEST = "GET / HTTP/1.1\r\n\r\n".getBytes(US_ASCII);

    private final ScheduledThreadPoolExecutor clock = new ScheduledThreadPoolExecutor(1) {
        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            return super.schedule(task, delay / 240, unit);
        }
    };

    private final CountDownLatch ended = new CountDownLatch(1);
    private InetSocketAddress address;
    private PeerListener listener;

    @BeforeEach
    void start() throws Exception {
        address = FakeGroup.freeAddress();
        listener = new PeerListener(address, null, 10, this::answerAtLength, clock);
    }

    @AfterEach
    void close() {
        listener.close();
        clock.shutdownNow();
    }

    private boolean answerAtLength(RequestHead request, String node, ServerConnection connection) throws IOException {
        try {
            connection.send(ByteBuffer.allocate(64 << 20)); // more than socket buffers hold
            return true;
        } finally {
            ended.countDown();
        }
    }

    private Socket connect() throws IOException {
        return new Socket(address.getAddress(), address.getPort());
    }

    @Test
    void connection_withoutAWholeRequest_isClosed() throws Exception {
        for (int sent : new int[] {0, 5}) {
            try (Socket socket = connect()) {
                socket.getOutputStream().write(REQUEST, 0, sent);
                assertThat(isEnded(socket)).isTrue();
            }
        }
    }

    @Test
    void connection_whoseResponseIsNotTaken_isClosed() throws Exception {
        try (Socket socket = connect()) {
            socket.getOutputStream().write(REQUEST);
            ended.await();
        }
    }

    private static boolean isEnded(Socket socket) throws IOException {
        try {
            return socket.getInputStream().read() == -1;
        } catch (SocketException e) {
            return true; // reset, because bytes were left unread
        }
    }
}
