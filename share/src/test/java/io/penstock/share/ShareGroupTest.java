package io.penstock.share;

import static io.penstock.share.TestNode.MIB;
import static io.penstock.share.TestNode.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.penstock.core.ObjectVersion;
import io.penstock.share.AddressesTest.MemoryFolder;
import io.penstock.share.ShareStatistics.Member;
import io.penstock.share.ShareStatistics.PeerState;
import io.penstock.testing.InMemoryObjectStore;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whole groups, over the loopback interface. */
@Timeout(180)
class ShareGroupTest {
    @TempDir
    private Path folder;

    private final InMemoryObjectStore bucket = new InMemoryObjectStore();
    private final FakeProof proof = new FakeProof();
    private final MemoryFolder names = new MemoryFolder();
    private final List<TestNode> nodes = new ArrayList<>();
    private final List<ShareGroup> groups = new ArrayList<>();

    @AfterEach
    void close() {
        groups.forEach(ShareGroup::close);
        nodes.forEach(TestNode::close);
        assertThat(names.names).isEmpty();
        await(
                "no thread of a group is left",
                () -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().startsWith("share-")));
    }

    private TestNode node() throws Exception {
        TestNode node = new TestNode(folder.resolve("node-" + nodes.size()), bucket);
        nodes.add(node);
        return node;
    }

    private ShareGroup join(TestNode node, @Nullable TlsFiles tls, String namespace) throws Exception {
        Discovery discovery = new Discovery.Folder(names);
        ShareGroup group = ShareGroup.start(
                new ShareConfig(discovery, FakeGroup.freeAddress(), node.folder.resolve("id"), tls, 0, namespace),
                node.fetcher,
                proof);
        groups.add(group);
        return group;
    }

    private ShareGroup join(TestNode node) throws Exception {
        return join(node, null, TestNode.NAMESPACE);
    }

    private void awaitMembers(int count) {
        await(
                count + " members are known to all",
                () -> groups.stream()
                        .allMatch(group -> group.statistics().members().size() == count));
    }

    private long late() {
        return TestNode.late(groups.stream().map(group -> group.statistics().fallbacks()));
    }

    private List<Boolean> owned(ShareGroup group) {
        List<Boolean> owned = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            owned.add(group.owns(bucket.putTestData("file-" + i, 100), 0));
        }
        return owned;
    }

    @Test
    void group_ofThreeNodes_fetchesOnce_andGoesOnWithoutOneOfThem() throws Exception {
        for (int i = 0; i < 3; i++) {
            join(node());
        }
        awaitMembers(3);
        ObjectVersion file = bucket.putTestData("file", 40 * MIB);
        for (TestNode node : nodes) {
            node.readAll(file);
        }
        long again = late() * OwnedSlabs.SIZE;
        assertThat(nodes.stream().mapToLong(TestNode::bytesFetched).sum())
                .isBetween(file.size(), file.size() + again)
                .isLessThan(3 * file.size());
        ShareStatistics statistics = groups.getFirst().statistics();
        assertThat(statistics.members().stream().mapToDouble(Member::share).sum())
                .isCloseTo(1, within(1e-6));
        assertThat(statistics.members().stream().map(Member::state))
                .containsExactlyInAnyOrder(PeerState.SELF, PeerState.ASKED, PeerState.ASKED);
        assertThat(groups.stream()
                        .mapToLong(group -> group.statistics().bytesFromPeers())
                        .sum())
                .isBetween(2 * file.size() - again, 2 * file.size());
        assertThat(groups.stream()
                        .mapToLong(group -> group.statistics().bytesServed())
                        .sum())
                .isBetween(2 * file.size() - again, 2 * file.size());
        assertThat(groups.stream()
                        .mapToLong(group -> group.statistics().getsForPeers())
                        .sum())
                .isPositive();

        List<Boolean> before = owned(groups.get(1));
        groups.remove(1).close();
        awaitMembers(2);
        for (TestNode node : nodes) {
            node.readAll(bucket.putTestData("another", 20 * MIB));
        }

        join(nodes.get(1)); // at another port
        awaitMembers(3);
        assertThat(owned(groups.getLast())).isEqualTo(before);
    }

    @Test
    void groups_ofTwoBuckets_knowNothingOfEachOther() throws Exception {
        ShareGroup first = join(node());
        ShareGroup second = join(node(), null, "memory/other");
        assertThat(first.statistics().members()).hasSize(1);
        assertThat(second.statistics().members()).hasSize(1);
        assertThat(Membership.group("a")).isNotEqualTo(Membership.group("b"));
    }

    @Test
    void group_ofAnotherVersionOfTheProtocol_isNotJoined() throws Exception {
        ShareGroup group = join(node());
        InetSocketAddress listen = FakeGroup.freeAddress();
        names.put(Announcement.name(listen));
        InetSocketAddress address = new InetSocketAddress(listen.getAddress(), listen.getPort() + 1);
        List<Owners> views = new CopyOnWriteArrayList<>();
        String other = Membership.group(TestNode.NAMESPACE).replace("penstock-1-", "penstock-2-");
        try (Membership newer = new Membership(
                new GroupMember("newer", GroupMember.address(listen)),
                new GroupTransport(address, null),
                new AddressDiscovery(() -> Announcement.read(names.list())),
                views::add)) {
            newer.join(other);
            join(node()); // joins while the other group exists
            awaitMembers(2);
            assertThat(newer.owners().nodes()).hasSize(1);
        }
        assertThat(group.statistics().members()).hasSize(2);
        assertThat(views).allSatisfy(view -> assertThat(view.nodes()).hasSize(1));
        names.remove(Announcement.name(listen));
    }

    @Test
    void group_withTls_takesMembersOfItsAuthorityOnly(@TempDir Path certificates) throws Exception {
        TestCertificates made = new TestCertificates(certificates);
        made.makeAuthority("ca");
        made.makeAuthority("other-ca");
        TlsFiles files = made.sign("ca", "node");
        join(node(), files, TestNode.NAMESPACE);
        join(node(), files, TestNode.NAMESPACE);
        awaitMembers(2);
        ShareGroup stranger = join(node(), made.sign("other-ca", "stranger"), TestNode.NAMESPACE);
        assertThat(stranger.statistics().members()).hasSize(1);
        assertThat(groups.getFirst().statistics().members()).hasSize(2);
        ObjectVersion file = bucket.putTestData("file", 20 * MIB);
        for (TestNode node : nodes) {
            node.readAll(file);
        }
        assertThat(nodes.stream().mapToLong(TestNode::bytesFetched).sum())
                .isBetween(2 * file.size(), 2 * file.size() + late() * OwnedSlabs.SIZE)
                .isLessThan(3 * file.size());
    }

    @Test
    void start_atAnAddressThatCannotBe_saysWhatToDo() throws Exception {
        TestNode node = node();
        InetSocketAddress free = FakeGroup.freeAddress();
        assertThatThrownBy(() -> start(node, new InetSocketAddress(7800))).hasMessageContaining("share.listen");
        assertThatThrownBy(() -> start(node, new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), 7800)))
                .hasMessageContaining("share.listen");
        for (int port = free.getPort(); port <= free.getPort() + 1; port++) {
            try (ServerSocket _ = new ServerSocket(port, 1, free.getAddress())) {
                assertThatThrownBy(() -> start(node, free)).hasMessageContaining("share.listen");
            }
        }
        start(node, free).close(); // the attempts have left nothing behind
    }

    private ShareGroup start(TestNode node, InetSocketAddress listen) throws ShareException {
        Discovery nobody = new Discovery.Addresses(List.of());
        ShareConfig config = new ShareConfig(nobody, listen, node.folder.resolve("id"), null, 0, TestNode.NAMESPACE);
        return ShareGroup.start(config, node.fetcher, proof);
    }
}
