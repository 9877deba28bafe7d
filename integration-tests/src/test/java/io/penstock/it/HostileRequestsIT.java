package io.penstock.it;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.settings.Host;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Requests to a mount's control socket that no command of Penstock would send. */
@Timeout(120)
final class HostileRequestsIT {
    private static final List<String> COMMANDS = List.of(
            "stats",
            "config",
            "set",
            "reload",
            "sync",
            "why",
            "warm",
            "unpin",
            "evict",
            "residency",
            "jobs",
            "job",
            "cancel",
            "upgrade");

    private static final List<String> ARGUMENTS = List.of(
            // A NUL, which no path may have.
            "{\"path\":\"a\\u0000b\",\"paths\":[\"a\\u0000b\"],\"list\":\"/a\\u0000b\","
                    + "\"settings\":[\"a\\u0000b=1\"]}",
            // Numbers, lists and objects for strings, and strings for numbers.
            "{\"path\":7,\"paths\":[7,[7],{}],\"list\":7,\"settings\":[7],\"job\":\"one\","
                    + "\"bandwidth\":\"x\",\"pinUntil\":\"x\",\"timeout\":\"x\"}",
            "{\"path\":[],\"paths\":{},\"list\":{},\"settings\":{},\"job\":[]}",
            "{\"job\":1e99,\"bandwidth\":-9,\"timeout\":-1,\"pinUntil\":-1,\"paths\":[\"nope\"]}",
            "[]",
            "7",
            "null",
            "\"text\"",
            "[".repeat(1_000) + "]".repeat(1_000));

    @TempDir
    private Path scratch;

    private TestBucket bucket;
    private MountedBucket mount;
    private Path socket;

    @BeforeEach
    void mount() throws Exception {
        bucket = new TestBucket(S3Server.shared());
        bucket.put("file", "content".getBytes(UTF_8));
        mount = MountedBucket.mount(S3Server.shared(), bucket.name(), scratch);
        socket = Host.current().runtimeFolder().resolve(mount.process().pid() + ".socket");
    }

    @AfterEach
    void unmount() throws Exception {
        mount.close();
        bucket.close();
    }

    private SocketChannel connect() throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        channel.connect(UnixDomainSocketAddress.of(socket));
        return channel;
    }

    /** Empty if the mount closed the connection without an answer. */
    private String answerTo(String line) throws IOException {
        try (SocketChannel channel = connect()) {
            ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(UTF_8));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            return new String(Channels.newInputStream(channel).readAllBytes(), UTF_8);
        } catch (IOException e) { // it does not read lines that are too long
            return "";
        }
    }

    private static String request(String command, String arguments) {
        return "{\"version\":1,\"command\":\"" + command + "\",\"arguments\":" + arguments + "}";
    }

    private void assertServes() throws IOException {
        assertThat(answerTo(request("stats", "{}")))
                .contains("\"pid\":" + mount.process().pid());
        assertThat(Files.size(mount.path().resolve("file"))).isEqualTo(7);
    }

    @Test
    void requests_ofEveryCommandWithWrongArguments_areAnsweredOrRefusedInALine() throws Exception {
        assertThat(answerTo(request("nonsense", "{}")))
                .contains(
                        "command: must be one of " + COMMANDS.stream().sorted().toList());
        for (String command : COMMANDS) {
            for (String arguments : ARGUMENTS) {
                assertThat(answerTo(request(command, arguments)))
                        .as(command + " " + arguments)
                        .startsWith("{\"version\":1,\"")
                        .endsWith("}\n")
                        .doesNotContain("internal error", "Exception");
            }
        }
        assertServes();
        assertThat(mount.log()).doesNotContain("The command ", "failed unexpectedly", "Exception");
    }

    @Test
    void request_ofAMegabyte_isNotRead() throws Exception {
        assertThat(answerTo(request("set", "{\"settings\":[\"" + "x".repeat(1 << 20) + "\"]}")))
                .isEmpty();
        assertServes();
    }

    @Tag("long")
    @Test
    void clients_thatSayNothing_keepOthersOutForTenSecondsAtMost() throws Exception {
        List<SocketChannel> silent = new ArrayList<>();
        try {
            for (int i = 0; i < 64; i++) {
                silent.add(connect());
            }
            Await.until(
                    "another client is served",
                    () -> answerTo(request("stats", "{}")).contains("\"pid\":"));
            assertServes();
        } finally {
            for (SocketChannel channel : silent) {
                channel.close();
            }
        }
    }
}
