package io.penstock.objectstore;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which connections are kept for the next request. */
@Timeout(30)
final class ConnectionsTest {
    private ScriptedServer server;
    private Connections connections;

    @BeforeEach
    void start() throws IOException {
        server = new ScriptedServer();
        S3Config config = S3Config.builder("bucket")
                .endpoint(server.uri(""))
                .readTimeout(Duration.ofMinutes(10))
                .build();
        connections = new Connections("127.0.0.1", server.uri("").getPort(), config);
    }

    @AfterEach
    void stop() throws IOException {
        connections.close();
        server.close();
    }

    @Test
    void take_afterGiveBack_isTheLastUsed() throws Exception {
        Connection first = connections.take();
        Connection second = connections.take();
        connections.giveBack(first);
        connections.giveBack(second);
        connections.closeLate(System.nanoTime());

        assertThat(connections.take()).isSameAs(second);
        assertThat(connections.take()).isSameAs(first);
    }

    @Test
    void closeLate_connectionsThatNobodyAsksFor_areClosed() throws Exception {
        Connection first = connections.take();
        Connection second = connections.take();
        connections.giveBack(first);
        connections.giveBack(second);

        connections.closeLate(System.nanoTime() + Duration.ofSeconds(6).toNanos());

        assertThat(connections.take()).isNotIn(first, second);
    }
}
