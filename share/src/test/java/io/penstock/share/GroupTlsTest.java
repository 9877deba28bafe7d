package io.penstock.share;

import static io.penstock.share.TestNode.MIB;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.http.TlsEngine;
import io.penstock.share.ShareStatistics.Fallback;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(120)
@ParameterizedClass
@EnumSource(TlsEngine.class)
class GroupTlsTest {
    @TempDir
    private static Path certificates;

    @TempDir
    private Path folder;

    private static TlsFiles node;
    private static TlsFiles stranger;
    private static TlsFiles expired;

    private final TlsEngine engine;

    GroupTlsTest(TlsEngine engine) {
        this.engine = engine;
    }

    @BeforeAll
    static void make() throws Exception {
        TestCertificates made = new TestCertificates(certificates);
        made.makeAuthority("ca");
        made.makeAuthority("other-ca");
        node = made.sign("ca", "node");
        expired = made.sign("ca", "expired", "-startdate", "-10d", "-validity", "3");
        stranger = made.sign("other-ca", "stranger");
    }

    private static void assertRefused(TlsFiles files, Path named, String setting, String why) {
        assertThatThrownBy(() -> GroupTls.context(files, TlsEngine.AUTO))
                .isInstanceOf(ShareException.class)
                .hasMessageStartingWith(setting + ": " + named)
                .hasMessageContaining(why);
    }

    @Test
    void context_ofUnusableFiles_saysWhichAndWhatToDo() throws Exception {
        Path none = folder.resolve("none");
        assertRefused(
                new TlsFiles(none, node.certificate(), node.key(), TlsEngine.AUTO),
                none,
                "share.tls-ca",
                "does not exist");
        assertRefused(
                new TlsFiles(node.authority(), none, node.key(), TlsEngine.AUTO),
                none,
                "share.tls-certificate",
                "does not exist");
        assertRefused(
                new TlsFiles(node.authority(), node.certificate(), none, TlsEngine.AUTO),
                none,
                "share.tls-key",
                "does not exist");
        assertRefused(
                new TlsFiles(node.authority(), node.certificate(), folder, TlsEngine.AUTO),
                folder,
                "share.tls-key",
                "cannot be read");
        Path garbage = Files.writeString(folder.resolve("garbage"), "garbage");
        assertRefused(
                new TlsFiles(garbage, node.certificate(), node.key(), TlsEngine.AUTO), garbage, "share.tls-ca", "PEM");
        assertRefused(
                new TlsFiles(node.authority(), node.certificate(), garbage, TlsEngine.AUTO),
                garbage,
                "share.tls-key",
                "openssl pkcs8");
        Path broken = Files.writeString(folder.resolve("broken"), TestCertificates.pem("PRIVATE KEY", new byte[] {1}));
        assertRefused(
                new TlsFiles(node.authority(), node.certificate(), broken, TlsEngine.AUTO),
                broken,
                "share.tls-key",
                "is not the key");
    }

    @Test
    void keys_giveEachHandshakeTheSameKey_whichIsNotDecryptedAgain() throws Exception {
        PrivateKey key = KeyPairGenerator.getInstance("EC").generateKeyPair().getPrivate();
        X509Certificate certificate;
        try (InputStream in = Files.newInputStream(node.certificate())) {
            certificate =
                    (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
        }

        X509KeyManager keys = (X509KeyManager) GroupTls.keys(key, List.of(certificate))[0];

        assertThat(keys.getPrivateKey("node")).isEqualTo(key).isSameAs(keys.getPrivateKey("node"));
    }

    @Test
    void context_ofExpiredOrForeignCertificates_saysSo() {
        assertRefused(expired, expired.certificate(), "share.tls-certificate", "renew it");
        assertRefused(
                new TlsFiles(node.authority(), node.certificate(), stranger.key(), TlsEngine.AUTO),
                stranger.key(),
                "share.tls-key",
                "is not the key of the first certificate of " + node.certificate());
        assertRefused(
                new TlsFiles(node.authority(), stranger.certificate(), stranger.key(), TlsEngine.AUTO),
                stranger.certificate(),
                "share.tls-certificate",
                "is not signed by " + node.authority());
    }

    @Test
    void read_amongNodesOfOneAuthority_isEncryptedAndRight() throws Exception {
        try (FakeGroup group = new FakeGroup(folder, GroupTls.context(node, engine))) {
            FakeGroup.Member first = group.join("a");
            FakeGroup.Member second = group.join("b");
            ObjectVersion file = group.bucket.putTestData("file", 33 * MIB + 5);
            first.local.readAll(file);
            second.local.readAll(file);
            group.assertFetchedOnce(file.size());
            TestNode.await(
                    "the last bytes count, too",
                    () -> { // slightly later than the reader
                        long had = first.counters.bytesHad.sum() + second.counters.bytesHad.sum();
                        assertThat(had).isLessThanOrEqualTo(file.size());
                        return had >= file.size() - group.late() * OwnedSlabs.SIZE;
                    });
        }
    }

    private void assertNothingGiven(SSLContext readers) throws Exception {
        try (FakeGroup group = new FakeGroup(folder, GroupTls.context(node, engine));
                TestNode local = new TestNode(folder.resolve("reader"), group.bucket);
                ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor()) {
            FakeGroup.Member owner = group.join("owner");
            GroupMember self = new GroupMember("reader", "127.0.0.1:1");
            ShareCounters counters = new ShareCounters();
            ShareConfig config = new ShareConfig(
                    new Discovery.Addresses(List.of()),
                    FakeGroup.freeAddress(),
                    folder.resolve("id"),
                    null,
                    0,
                    TestNode.NAMESPACE);
            try (Requester requester = new Requester(
                    config, readers, () -> new Owners(self, List.of(owner.node)), group.proof, clock, counters)) {
                local.fetcher.setPeers(requester);
                local.readAll(group.bucket.putTestData("file", 100_000));
            }
            assertThat(counters.bytesHad.sum()).isZero();
            assertThat(counters.fallbacks()).containsEntry(Fallback.UNREACHABLE, 1L);
            assertThat(owner.local.gets()).isZero();
            assertThat(owner.counters.requestsServed.sum()).isZero();
        }
    }

    @Test
    void read_ofANodeOfAnotherAuthority_givesNothing() throws Exception {
        assertNothingGiven(GroupTls.context(stranger, engine));
    }

    @Test
    void read_ofANodeOfAnotherAuthorityThatTrustsAll_givesNothing() throws Exception {
        assertNothingGiven(UncheckedTls.context(stranger, new TrustsAll()));
    }

    @Test
    void read_withoutACertificate_givesNothing() throws Exception {
        SSLContext trusting = SSLContext.getInstance("TLSv1.3");
        trusting.init(null, new TrustManager[] {new TrustsAll()}, null);
        assertNothingGiven(trusting);
    }

    @Test
    void read_withAnExpiredCertificate_givesNothing() throws Exception {
        assertNothingGiven(UncheckedTls.context(expired, new TrustsAll()));
    }

    @Test
    void server_clientWithoutTls_getsNoAnswer_othersAreServed() throws Exception {
        try (FakeGroup group = new FakeGroup(folder, GroupTls.context(node, engine))) {
            FakeGroup.Member owner = group.join("owner");
            assertThat(answerInTheClear(owner.node.socketAddress())).doesNotContain("HTTP/1.1 2");
            SSLContext members = GroupTls.context(node, engine);
            try (SSLSocket socket = (SSLSocket) members.getSocketFactory()
                    .createSocket(
                            owner.node.socketAddress().getAddress(),
                            owner.node.socketAddress().getPort())) {
                socket.startHandshake();
                assertThat(socket.getSession().getProtocol()).isEqualTo("TLSv1.3");
                assertThat(socket.getSession().getPeerCertificates()).isNotEmpty();
            }
        }
    }

    @Test
    void server_toAMemberOfAnEarlierTls_doesNotAnswer() throws Exception {
        try (FakeGroup group = new FakeGroup(folder, GroupTls.context(node, engine))) {
            InetSocketAddress owner = group.join("owner").node.socketAddress();
            SSLContext members = GroupTls.context(node, TlsEngine.JDK);
            try (SSLSocket socket =
                    (SSLSocket) members.getSocketFactory().createSocket(owner.getAddress(), owner.getPort())) {
                socket.setEnabledProtocols(new String[] {"TLSv1.2"});
                assertThatThrownBy(socket::startHandshake).isInstanceOf(IOException.class);
            }
        }
    }

    @Test
    void connect_again_checksTheCertificatesAgain() throws Exception {
        try (FakeGroup group = new FakeGroup(folder, GroupTls.context(node, engine))) {
            InetSocketAddress owner = group.join("owner").node.socketAddress();
            SSLContext members = GroupTls.context(node, engine);
            long first = sessionBegan(members, owner);
            TestNode.await("a session of its own", () -> sessionBegan(members, owner) != first);
        }
    }

    /** When the session of a new connection began: a resumed session keeps its original time. */
    private static long sessionBegan(SSLContext tls, InetSocketAddress server) {
        try (SSLSocket socket =
                (SSLSocket) tls.getSocketFactory().createSocket(server.getAddress(), server.getPort())) {
            socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(US_ASCII));
            assertThat(socket.getInputStream().read()).isNotNegative(); // the ticket for the next session came first
            return socket.getSession().getCreationTime();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String answerInTheClear(InetSocketAddress address) {
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            socket.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), US_ASCII);
        } catch (IOException e) {
            return ""; // a reset connection is as good an answer
        }
    }

    /** Accepts any server's certificate. */
    private static final class TrustsAll implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
