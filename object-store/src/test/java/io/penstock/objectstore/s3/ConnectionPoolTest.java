package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.readTimeout;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.objectstore.http.HttpConnection;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which connections stay open for the next request, and which address new ones use. */
@Timeout(30)
final class ConnectionPoolTest {
    private static final byte[] REQUEST = "GET / HTTP/1.1\r\n\r\n".getBytes(ISO_8859_1);
    private static final String ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

    private ScriptedServer server;
    private ConnectionPool connections;

    @BeforeEach
    void start() throws IOException {
        server = new ScriptedServer();
        connections = connectionsTo("127.0.0.1");
    }

    @AfterEach
    void stop() throws IOException {
        connections.close();
        server.close();
    }

    @Test
    void take_afterGiveBack_isTheLastUsed() throws Exception {
        HttpConnection first = connections.take();
        HttpConnection second = connections.take();
        connections.giveBack(first);
        connections.giveBack(second);
        connections.closeLate(System.nanoTime());

        assertThat(connections.take()).isSameAs(second);
        assertThat(connections.take()).isSameAs(first);
    }

    @Test
    void take_serverSentMoreThanWasAskedFor_isAnotherConnection() throws Exception {
        HttpConnection first = connections.take();
        server.answers(ANSWER + "HTTP/1.1 200 OK\r\n");
        assertThat(first.send(REQUEST).status()).isEqualTo(200);
        connections.giveBack(first);

        assertThat(connections.take()).isNotSameAs(first);
    }

    @Test
    void take_serverClosedTheKeptConnection_isAnotherConnection() throws Exception {
        HttpConnection first = connections.take();
        server.answersAndHangsUp(ANSWER);
        assertThat(first.send(REQUEST).status()).isEqualTo(200);
        server.awaitHangUps(1);
        connections.giveBack(first);

        assertThat(connections.take()).isNotSameAs(first);
    }

    @Test
    void closeLate_connectionsThatNobodyAsksFor_areClosed() throws Exception {
        HttpConnection first = connections.take();
        HttpConnection second = connections.take();
        connections.giveBack(first);
        connections.giveBack(second);

        connections.closeLate(System.nanoTime() + Duration.ofSeconds(6).toNanos());

        assertThat(connections.take()).isNotIn(first, second);
    }

    @Test
    void take_firstAddressRefuses_connectsToTheNext() throws Exception {
        try (ConnectionPool several = connectionsTo("127.0.0.2", "127.0.0.1")) {
            assertThat(several.take()).isNotNull();
            assertThat(several.take()).isNotNull();
        }
    }

    @Test
    void take_severalAddresses_takeTurns() throws Exception {
        try (ScriptedServer other = new ScriptedServer("127.0.0.2", port());
                ConnectionPool several = connectionsTo("127.0.0.1", "127.0.0.2")) {
            server.answers(ANSWER, ANSWER);
            other.answers(ANSWER, ANSWER);
            for (int i = 0; i < 4; i++) {
                assertThat(several.take().send(REQUEST).status()).isEqualTo(200);
            }
            assertThat(server.connections()).isEqualTo(2);
            assertThat(other.connections()).isEqualTo(2);
        }
    }

    @Test
    void take_allAddressesRefuse_failsAsOneThatRefuses() {
        try (ConnectionPool several = connectionsTo("127.0.0.2", "127.0.0.3")) {
            assertThatThrownBy(several::take).isInstanceOf(ConnectException.class);
        }
    }

    private int port() {
        return server.uri("").getPort();
    }

    private ConnectionPool connectionsTo(String... addresses) {
        InetAddress[] resolved =
                Arrays.stream(addresses).map(InetAddress::ofLiteral).toArray(InetAddress[]::new);
        return new ConnectionPool(
                new ServerAddresses("server", _ -> resolved, System::nanoTime),
                port(),
                null,
                readTimeout(Duration.ofMinutes(10)));
    }
}
