package io.penstock.serve.control;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.cache.CacheStatistics;
import io.penstock.fuse.calls.CallStatistics;
import io.penstock.objectstore.s3.RequestStatistics;
import io.penstock.prefetch.ReadaheadStatistics;
import io.penstock.serve.control.MountStatistics.InFlight;
import io.penstock.settings.Host;
import io.penstock.settings.process.RefusedException;
import io.penstock.testing.Seeded;
import io.penstock.testing.TestTier;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(30)
final class ControlServerTest {
    private static final MountStatistics STATISTICS = new MountStatistics(
            "s3://b",
            "/mnt",
            7,
            1.5,
            new CacheStatistics(1, 2, 3, 4, 15, 16, 17, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14),
            new ReadaheadStatistics(1, 2, 3, 4, 5, 6, 7, 8, 9),
            new RequestStatistics(1, 2, 3, 4, 5, 6, 7),
            new Cost(0.5, 0),
            new Saved(1, 2, 0.25),
            null,
            Map.of(
                    "read",
                    new CallStatistics(2, 3, 4, 5, 6, 7, Map.of("EIO", 1L), new TreeMap<>(Map.of(1L << 20, 2L)))),
            new InFlight(8, 9),
            Map.of("pages", 10L),
            new MountStatistics.Space(11, 12, 13),
            List.of(new MountStatistics.Renaming("train/old/", "train/new/", "copying", 1_200, 5_000)),
            null,
            null);

    @TempDir
    private Path folder;

    private Path socket;
    private ControlServer server;

    @BeforeEach
    void listen() throws IOException {
        socket = folder.resolve("1.socket");
        server = new ControlServer(
                socket,
                Map.of(
                        "stats",
                        arguments -> STATISTICS,
                        "echo",
                        arguments -> arguments,
                        "refuses",
                        arguments -> {
                            throw new RefusedException(
                                    "no " + arguments.path("of").asText());
                        },
                        "path",
                        arguments -> Path.of(arguments.path("path").asText()).toString(),
                        "fails",
                        arguments -> {
                            throw new IllegalStateException("secret");
                        }));
    }

    @AfterEach
    void close() {
        server.close();
    }

    private JsonNode ask(String command) throws Exception {
        return new ControlClient(socket).ask(command, Map.of());
    }

    private String answerTo(String line) throws IOException {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            channel.write(ByteBuffer.wrap(line.getBytes(UTF_8)));
            return new String(Channels.newInputStream(channel).readAllBytes(), UTF_8);
        }
    }

    /** Requests of this user's programs: nobody else may connect. */
    @Test
    @Timeout(300)
    void ask_amongRequestsOfAllKinds_isAnswered() {
        byte[] right = ("{\"version\":1,\"command\":\"echo\",\"arguments\":{\"a\":[" + "[".repeat(40)
                        + "1e999999999,\"x\"]}}\n")
                .getBytes(UTF_8);
        byte[] deep = ("[".repeat(60_000) + "\n").getBytes(UTF_8);
        byte[] number = ("{\"version\":" + "9".repeat(60_000) + "}\n").getBytes(UTF_8);
        Seeded.check(3, random -> {
            Deque<SocketChannel> silent = new ArrayDeque<>();
            for (int i = 0; i < TestTier.choose("penstock.inputs", 1_000, 10_000); i++) {
                byte[] whole = random.nextInt(50) > 0 ? right : random.nextBoolean() ? deep : number;
                byte[] input =
                        Arrays.copyOf(whole, random.nextInt(3) == 0 ? random.nextInt(whole.length) : whole.length);
                for (int changes = random.nextInt(4); changes > 0 && input.length > 0; changes--) {
                    input[random.nextInt(input.length)] = (byte) random.nextInt();
                }
                SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket));
                try {
                    channel.write(ByteBuffer.wrap(input));
                } catch (IOException e) {
                    // it was refused
                }
                silent.add(channel);
                if (silent.size() > random.nextInt(8)) {
                    silent.removeFirst().close();
                }
                if (i % 100 == 0) {
                    assertThat(Json.read(askOnceThereIsRoom(), MountStatistics.class))
                            .isEqualTo(STATISTICS);
                }
            }
            for (SocketChannel each : silent) {
                each.close();
            }
        });
    }

    /** Connections that were just closed still count for a moment. */
    private JsonNode askOnceThereIsRoom() throws Exception {
        while (true) {
            try {
                return ask("stats");
            } catch (IOException | RefusedException e) {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void ask_aCommand_isItsResult() throws Exception {
        for (int i = 0; i < 100; i++) {
            assertThat(Json.read(ask("stats"), MountStatistics.class)).isEqualTo(STATISTICS);
        }
        assertThat(ask("stats").fieldNames())
                .toIterable()
                .containsExactly(
                        "source",
                        "mountPoint",
                        "pid",
                        "seconds",
                        "cache",
                        "readahead",
                        "requests",
                        "cost",
                        "saved",
                        "writing",
                        "calls",
                        "inFlight",
                        "memory",
                        "space",
                        "renames",
                        "names",
                        "share");
        assertThat(ask("stats").get("readahead").size()).isEqualTo(9);
    }

    @Test
    void ask_anUnknownCommand_isRefusedWithTheKnownOnes() {
        assertThatThrownBy(() -> ask("stat"))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("[echo, fails, path, refuses, stats]");
    }

    @Test
    void ask_withArguments_givesThemToTheCommand() throws Exception {
        JsonNode result = new ControlClient(socket).ask("echo", Map.of("a", List.of(1, 2)));

        assertThat(result.toString()).isEqualTo("{\"a\":[1,2]}");
    }

    @Test
    void ask_aCommandThatRefuses_isRefusedWithItsReason() {
        assertThatThrownBy(() -> new ControlClient(socket).ask("refuses", Map.of("of", "room")))
                .isInstanceOf(RefusedException.class)
                .hasMessage("no room");
    }

    @Test
    void ask_aCommandThatFails_isRefusedWithoutItsReason() {
        assertThatThrownBy(() -> ask("fails"))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("log")
                .hasMessageNotContaining("secret");
    }

    @Test
    void ask_aPathThatIsNone_isRefusedAndNoFailure() {
        assertThatThrownBy(() -> new ControlClient(socket).ask("path", Map.of("path", "a\u0000b")))
                .isInstanceOf(RefusedException.class)
                .hasMessage("'a\u0000b' is not a valid path: Nul character not allowed");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{} | version",
                "[] | version",
                "{\"version\":2,\"command\":\"stats\"} | version",
                "{\"version\":1} | command",
                "{\"version\":1,\"command\":{\"a\":1}} | command",
                "{\"version\":1, | invalid JSON",
                "stats | invalid JSON",
                "'' | version"
            })
    void request_malformed_isRefusedWithTheReason(String line, String reason) throws Exception {
        assertThat(answerTo(line + "\n"))
                .startsWith("{\"version\":1,\"error\":\"")
                .contains(reason)
                .endsWith("\n");
        assertThat(ask("stats").get("pid").asInt()).isEqualTo(7);
    }

    @Test
    void request_withoutAnEnd_isNotAnswered() throws Exception {
        assertThatThrownBy(() -> assertThat(answerTo("x".repeat(100_000))).isEmpty())
                .satisfiesAnyOf(
                        e -> assertThat(e).isInstanceOf(IOException.class),
                        e -> assertThat(e).isInstanceOf(AssertionError.class));
        assertThat(ask("stats").get("pid").asInt()).isEqualTo(7);
    }

    @Test
    void clients_thatSayNothing_keepNobodyElseOut() throws Exception {
        List<SocketChannel> silent = new ArrayList<>();
        try {
            for (int i = 0; i < 10; i++) {
                silent.add(SocketChannel.open(UnixDomainSocketAddress.of(socket)));
            }
            assertThat(ask("stats").get("pid").asInt()).isEqualTo(7);
        } finally {
            for (SocketChannel channel : silent) {
                channel.close();
            }
        }
    }

    @Test
    void socket_isForItsOwnerOnly_andGoesWithTheServer() throws Exception {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)))
                .isEqualTo("rw-------");

        server.close();

        assertThat(socket).doesNotExist();
        assertThatThrownBy(() -> ask("stats")).isInstanceOf(IOException.class);
    }

    @Test
    void ask_byAnotherUser_isRefused() throws Exception {
        assumeThat(Host.current().isRoot())
                .as("only root can become another user")
                .isTrue();
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rwxrwxrwx"));
        String client = """
            import socket, sys
            s = socket.socket(socket.AF_UNIX)
            s.connect(sys.argv[1])
            s.send(b'{"version":1,"command":"stats"}\\n')
            print(s.makefile().read())
            """;
        Process other = new ProcessBuilder(
                        "setpriv",
                        "--reuid=65534",
                        "--clear-groups",
                        "/usr/bin/python3",
                        "-c",
                        client,
                        socket.toString())
                .redirectErrorStream(true)
                .start();

        String answer = new String(other.getInputStream().readAllBytes(), UTF_8);

        assertThat(answer).contains("this mount belongs to root").doesNotContain("s3://b");
    }

    @Test
    void ask_aProcessThatDoesNotAnswer_ends() throws Exception {
        Path stopped = folder.resolve("3.socket");
        try (ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            listener.bind(UnixDomainSocketAddress.of(stopped));
            assertThatThrownBy(() -> new ControlClient(stopped).ask("stats", Map.of()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("no response within");
        }
    }

    @Test
    void listen_whereAKilledProcessHasLeftItsSocket_replacesIt() throws Exception {
        Path left = folder.resolve("2.socket");
        Files.createFile(left);
        try (ControlServer _ = new ControlServer(left, Map.of("stats", arguments -> STATISTICS))) {
            assertThat(new ControlClient(left).ask("stats", Map.of()).get("pid").asInt())
                    .isEqualTo(7);
        }
    }
}
