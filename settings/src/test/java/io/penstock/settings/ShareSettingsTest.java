package io.penstock.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShareSettingsTest {
    private static final String LISTEN = "10.0.0.1:7420";
    private static final Map<Setting<?>, String> CERTIFICATES = Map.of(
            ShareSettings.TLS_CA,
            "/ca.pem",
            ShareSettings.TLS_CERTIFICATE,
            "/node.pem",
            ShareSettings.TLS_KEY,
            "/node.key");

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "bucket|bucket",
                "dns:nodes.example.com|dns:nodes.example.com:7420",
                "dns:nodes:9000|dns:nodes:9000",
                "10.0.0.1|10.0.0.1:7420",
                "10.0.0.1, node2:9000 ;[fd00::3];[::1]:7|10.0.0.1:7420,node2:9000,[fd00::3]:7420,[::1]:7",
            })
    void peers_allowed_printedWithTheirPorts(String text, String printed) {
        Peers peers = ValueType.peers().parse(text);

        assertThat(peers).isNotNull();
        assertThat(ValueType.peers().print(peers)).isEqualTo(printed);
        assertThat(ValueType.peers().parse(printed)).isEqualTo(peers);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ",", "a,,b", "dns:", "dns:a,b", "http://a", "a:0", "a:65535", "::1", "a b", "a:x"})
    void peers_others_refused(String text) {
        assertThat(ValueType.peers().parse(text)).isNull();
    }

    @Test
    void of_nothingSet_sharesNothing() throws ConfigurationException {
        Configuration configuration = resolve(Map.of());

        assertThat(configuration.find(ShareSettings.PEERS)).isEmpty();
        assertThat(configuration.find(ShareSettings.LISTEN)).isEmpty();
        assertThat(configuration.get(ShareSettings.INSECURE)).isFalse();
        assertThat(configuration.get(ShareSettings.BANDWIDTH)).isZero();
    }

    @Test
    void of_peersWithCertificates_sharesAtTheGivenAddress() throws ConfigurationException {
        Map<Setting<?>, String> options = new HashMap<>(CERTIFICATES);
        options.put(ShareSettings.PEERS, "bucket");
        options.put(ShareSettings.LISTEN, LISTEN);

        Configuration configuration = resolve(options);

        assertThat(configuration.get(ShareSettings.PEERS)).isEqualTo(new Peers.InBucket());
        assertThat(configuration.show(ShareSettings.LISTEN)).isEqualTo(LISTEN);
    }

    @Test
    void of_peersWithoutCertificates_namesWhatIsMissing() {
        assertThatThrownBy(() -> resolve(Map.of(
                        ShareSettings.PEERS,
                        "bucket",
                        ShareSettings.LISTEN,
                        LISTEN,
                        ShareSettings.TLS_KEY,
                        "/node.key")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageStartingWith("option --share-peers: share.peers: 'bucket' needs share.tls-ca,"
                        + " share.tls-certificate, by which")
                .hasMessageContaining("share.insecure=true");
    }

    @Test
    void of_insecureWithCertificates_refused() {
        assertThatThrownBy(() -> resolve(Map.of(
                        ShareSettings.PEERS,
                        "bucket",
                        ShareSettings.LISTEN,
                        LISTEN,
                        ShareSettings.INSECURE,
                        "true",
                        ShareSettings.TLS_CA,
                        "/ca.pem")))
                .hasMessage(
                        "option --share-insecure: share.insecure: cannot be combined with share.tls-ca; set one or the"
                                + " other");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0:7420", "[::]:7420", "10.0.0.1:65535"})
    void of_listeningWhereNoPeerCanConnect_refused(String listen) {
        assertThatThrownBy(() -> resolve(Map.of(
                        ShareSettings.PEERS, "bucket", ShareSettings.LISTEN, listen, ShareSettings.INSECURE, "true")))
                .hasMessageContaining(
                        "share.listen: invalid value '" + listen + "'; expected an address of this machine");
    }

    @Test
    void listen_addressesOfItsHelp_areAllowed() {
        assertThat(ShareSettings.LISTEN.type().allowed()).endsWith(" 10.0.0.1:7420 or [fd00::3]:7420");
        for (String listen : List.of("10.0.0.1:7420", "[fd00::3]:7420", "node1:65534")) {
            assertThat(ValueType.ownNode().parse(listen)).isNotNull();
        }
    }

    @Test
    void live_bandwidthOnly() {
        assertThat(ShareSettings.GROUP.settings().stream()
                        .filter(Setting::isLive)
                        .toList())
                .isEqualTo(List.of(ShareSettings.BANDWIDTH));
    }

    private static Configuration resolve(Map<Setting<?>, String> options) throws ConfigurationException {
        return Configuration.of(
                Hosts.USER,
                "data",
                SettingSource.ofOptions(options, Map.of()),
                MountOptionList.parse(List.of(), "-o").settings(),
                ConfigurationFile.NONE);
    }
}
