package io.penstock.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How nodes are found, and how they are named. */
class AddressesTest {
    /** An in-memory folder of a bucket. */
    static final class MemoryFolder implements ShareFolder {
        final Map<String, Instant> names = new ConcurrentHashMap<>();

        @Override
        public Map<String, Instant> list() {
            return Map.copyOf(names);
        }

        @Override
        public void put(String name) {
            names.put(name, Instant.now());
        }

        @Override
        public void remove(String name) {
            names.remove(name);
        }
    }

    private static InetSocketAddress at(String host, int port) {
        return new InetSocketAddress(InetAddress.ofLiteral(host), port);
    }

    @Test
    void folder_hasTheAddressesOfLivingNodes() throws Exception {
        MemoryFolder folder = new MemoryFolder();
        Instant then = Instant.parse("2001-01-01T00:00:00Z"); // the store's clock may show any time
        folder.names.put(Announcement.name(at("10.1.2.3", 7800)), then);
        folder.names.put(Announcement.name(at("2001:db8::1", 7800)), then.minusSeconds(170));
        folder.names.put(Announcement.name(at("10.1.2.4", 7800)), then.minusSeconds(190));
        for (String odd : List.of("", "_", "example.com_7800", "10.1.2.3_", "10.1.2.3_99999", "10.1.2.3_x", "_7800")) {
            folder.names.put(odd, then);
        }
        assertThat(folder.names.keySet()).allMatch(name -> name.matches("[-A-Za-z0-9._]*"));
        assertThat(Addresses.of(new Discovery.Folder(folder)).now())
                .containsExactlyInAnyOrder(at("10.1.2.3", 7801), at("2001:db8::1", 7801));
    }

    @Test
    void announcement_isThereUntilTheEnd() throws Exception {
        MemoryFolder folder = new MemoryFolder();
        try (Announcement _ = Announcement.start(folder, at("10.1.2.3", 7800))) {
            assertThat(folder.names).containsOnlyKeys("10.1.2.3_7800");
        }
        assertThat(folder.names).isEmpty();
    }

    @Test
    void announcement_removesNamesThatAreADayOld_andNothingElse() throws Exception {
        MemoryFolder folder = new MemoryFolder();
        Instant now = Instant.now();
        folder.names.put("10.1.2.4_7800", now.minus(Duration.ofHours(25)));
        folder.names.put("10.1.2.5_7800", now.minus(Duration.ofHours(23)));
        folder.names.put("notes.txt", now.minus(Duration.ofDays(9)));
        try (Announcement announcement = Announcement.start(folder, at("10.1.2.3", 7800))) {
            announcement.removeOld();
            assertThat(folder.names).containsOnlyKeys("10.1.2.3_7800", "10.1.2.5_7800", "notes.txt");
        }
    }

    @Test
    void names_areLookedUp_andUnknownOnesLeftOut() {
        Discovery listed = new Discovery.Addresses(List.of(
                InetSocketAddress.createUnresolved("127.0.0.1", 7800),
                InetSocketAddress.createUnresolved("no-such-host.invalid", 7800)));
        assertThat(Addresses.of(listed).now()).containsExactly(at("127.0.0.1", 7801));
        assertThat(Addresses.of(new Discovery.Dns("127.0.0.1", 7800)).now()).containsExactly(at("127.0.0.1", 7801));
    }

    @Test
    void now_whereNothingCanBeFoundOut_isEmpty() {
        Addresses addresses = new Addresses(() -> {
            throw new IOException("away");
        });
        assertThat(addresses.now()).isEmpty();
    }

    @Test
    void node_hasTheAddressThatItIsGiven() {
        for (InetSocketAddress address : List.of(at("10.1.2.3", 7800), at("2001:db8::1", 7800))) {
            assertThat(new GroupMember("id", GroupMember.address(address)).socketAddress())
                    .isEqualTo(address);
        }
        for (String odd : List.of("", ":", "example.com:80", "10.1.2.3", "10.1.2.3:x", "10.1.2.3:70000")) {
            assertThatThrownBy(() -> new GroupMember("id", odd).socketAddress())
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void identity_isKept_andMadeAgainIfItIsNone(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("node");
        String id = NodeIdentity.of(file);
        assertThat(NodeIdentity.of(file)).isEqualTo(id);
        Files.writeString(file, "");
        String other = NodeIdentity.of(file);
        assertThat(other).isNotEqualTo(id);
        assertThat(NodeIdentity.of(file)).isEqualTo(other);
        assertThatThrownBy(() -> NodeIdentity.of(folder.resolve("no/such/folder")))
                .isInstanceOf(ShareException.class)
                .hasMessageContaining("no/such/folder");
    }
}
