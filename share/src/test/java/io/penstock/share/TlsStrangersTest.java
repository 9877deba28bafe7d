package io.penstock.share;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.http.TlsEngine;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.Seeded;
import io.penstock.testing.TestTier;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Input of strangers, and of faulty members, at the port of a node's bytes with TLS. */
@Timeout(600)
@ParameterizedClass
@EnumSource(TlsEngine.class)
class TlsStrangersTest {
    private static final int INPUTS = TestTier.choose("penstock.inputs", 300, 10_000);
    private static final int BETWEEN_CHECKS = 100;

    /** Fewer than there are places. */
    private static final int SILENT = 120;

    @TempDir
    private Path folder;

    private final TlsEngine engine;
    private final ObjectVersion file = new InMemoryObjectStore().putTestData(AttackedNode.KEY, AttackedNode.SIZE);
    private SSLContext member;
    private AttackedNode node;

    TlsStrangersTest(TlsEngine engine) {
        this.engine = engine;
    }

    @BeforeEach
    void start() throws Exception {
        TestCertificates certificates = new TestCertificates(folder);
        certificates.makeAuthority("ca");
        TlsFiles files = certificates.sign("ca", "node");
        member = GroupTls.context(files, TlsEngine.JDK);
        node = new AttackedNode(
                folder.resolve("attacked"), new TlsFiles(files.authority(), files.certificate(), files.key(), engine));
    }

    @AfterEach
    void close() throws Exception {
        node.end();
    }

    private Socket connect() throws IOException {
        InetSocketAddress to = node.listen;
        Socket socket = new Socket(to.getAddress(), to.getPort());
        socket.setSoTimeout(60_000);
        return socket;
    }

    private Socket connectAsMember() throws IOException {
        Socket socket = member.getSocketFactory().createSocket(node.listen.getAddress(), node.listen.getPort());
        socket.setSoTimeout(60_000);
        return socket;
    }

    private void assertServes() {
        StrangersTest.assertServes(node, file, this::connectAsMember);
    }

    /** A client's first flight of TLS records. */
    private byte[] clientHello() throws IOException {
        SSLEngine client = member.createSSLEngine();
        client.setUseClientMode(true);
        ByteBuffer records = ByteBuffer.allocate(client.getSession().getPacketBufferSize());
        client.wrap(ByteBuffer.allocate(0), records);
        byte[] hello = new byte[records.flip().remaining()];
        records.get(hello);
        return hello;
    }

    @Test
    void records_thatAreNone_areSurvived() throws Exception {
        Seeded.check(2, random -> {
            for (int i = 0; i < INPUTS; i++) {
                try (Socket socket = connect()) {
                    socket.getOutputStream().write(StrangersTest.mutated(clientHello(), random));
                    if (random.nextInt(4) == 0) {
                        socket.setSoTimeout(20);
                        socket.getInputStream().readNBytes(1 << 10);
                    }
                } catch (IOException e) {
                    // the node closed the connection
                }
                if (i % BETWEEN_CHECKS == BETWEEN_CHECKS - 1) {
                    assertServes();
                }
            }
        });
    }

    @Test
    void requests_ofAMemberThatHasGoneWrong_areSurvived() throws Exception {
        byte[] right = StrangersTest.request(file, "right").getBytes(ISO_8859_1);
        Seeded.check(2, random -> {
            for (int i = 0; i < INPUTS / 3; i++) {
                try (Socket socket = connectAsMember()) {
                    socket.getOutputStream().write(StrangersTest.mutated(right, random));
                    if (random.nextInt(4) == 0) {
                        socket.setSoTimeout(20);
                        socket.getInputStream().readNBytes(1 << 10);
                    }
                } catch (IOException e) {
                    // as above
                }
            }
            assertServes();
        });
    }

    /** Completing it would take more bytes than all buffers hold. */
    @Test
    void record_longerThanAny_endsItsConnectionAtOnce() throws Exception {
        try (Socket plain = connect();
                Socket member =
                        this.member.getSocketFactory().createSocket(plain, "127.0.0.1", node.listen.getPort(), false)) {
            member.getOutputStream().write(StrangersTest.request(file, "right").getBytes(ISO_8859_1));
            assertThat(StrangersTest.isRight(member, file)).isTrue();

            byte[] record = new byte[70_000];
            ByteBuffer.wrap(record).put((byte) 0x17).putShort((short) 0x0303).putShort((short) 0xffff);
            plain.setSoTimeout(15_000); // a silent connection ends after 30 s
            try {
                plain.getOutputStream().write(record);
                assertThat(plain.getInputStream().readAllBytes()).hasSizeLessThan(1_000);
            } catch (SocketException e) {
                // the connection ended during the write
            }
        }
    }

    @Test
    void handshakes_thatAreNotFinished_keepNoMemberOut() throws Exception {
        List<Socket> silent = new ArrayList<>();
        try {
            for (int i = 0; i < SILENT; i++) {
                Socket socket = connect();
                silent.add(socket);
                byte[] hello = clientHello();
                socket.getOutputStream().write(hello, 0, i % 3 == 0 ? hello.length : i % 3 * hello.length / 3);
            }
            assertServes();
        } finally {
            for (Socket each : silent) {
                each.close();
            }
        }
    }

    @Test
    void requests_manyOnOneConnection_areAnsweredInTheirOrder() throws Exception {
        byte[] request = StrangersTest.request(file, "right").getBytes(ISO_8859_1);
        byte[] refused = "GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(ISO_8859_1);
        try (Socket socket = connectAsMember()) {
            socket.getOutputStream().write(request);
            socket.getOutputStream().write(request);
            assertThat(StrangersTest.isRight(socket, file)).isTrue();
            socket.getOutputStream().write(refused);
            assertThat(StrangersTest.isRight(socket, file)).isTrue();
            assertThat(StrangersTest.isRight(socket, file)).isFalse();
        }
    }
}
