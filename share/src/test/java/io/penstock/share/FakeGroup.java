package io.penstock.share;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.testing.InMemoryObjectStore;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Nodes with servers and requesters, whose membership a test sets. */
final class FakeGroup implements AutoCloseable {
    /** Concurrent connections to each member. */
    static final int CONNECTIONS = 200;

    final InMemoryObjectStore bucket = new InMemoryObjectStore();
    final FakeProof proof = new FakeProof();
    final List<Member> members = new ArrayList<>();
    private final Path folder;
    private final @Nullable SSLContext tls;
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().factory());
    private volatile List<GroupMember> nodes = List.of();

    FakeGroup(Path folder, @Nullable SSLContext tls) {
        this.folder = folder;
        this.tls = tls;
    }

    /** A member. */
    final class Member implements AutoCloseable {
        final GroupMember node;
        final TestNode local;
        final ShareCounters counters = new ShareCounters();
        final Requester requester;
        final PeerServer server;

        Member(String id, String namespace, long bandwidth) throws IOException, ShareException {
            InetSocketAddress listen = freeAddress();
            ShareConfig config = config(listen, namespace, bandwidth);
            node = new GroupMember(id, GroupMember.address(listen));
            local = new TestNode(folder.resolve(id), bucket);
            requester = new Requester(config, tls, () -> new Owners(node, nodes), proof, clock, counters);
            server = new PeerServer(
                    config, tls, CONNECTIONS, local.fetcher, new ProvenNodes(proof, System::nanoTime), clock, counters);
            local.fetcher.setPeers(requester);
        }

        @Override
        public void close() {
            requester.close();
            server.close();
            local.close();
        }
    }

    private ShareConfig config(InetSocketAddress listen, String namespace, long bandwidth) {
        return new ShareConfig(
                new Discovery.Addresses(List.of()), listen, folder.resolve("id"), null, bandwidth, namespace);
    }

    Member join(String id) throws IOException, ShareException {
        return join(id, TestNode.NAMESPACE, 0);
    }

    Member join(String id, String namespace, long bandwidth) throws IOException, ShareException {
        Member member = new Member(id, namespace, bandwidth);
        members.add(member);
        joined(member.node);
        return member;
    }

    /** Adds a node that does not run Penstock. */
    void joined(GroupMember node) {
        List<GroupMember> more = new ArrayList<>(nodes);
        more.add(node);
        changed(more);
    }

    void changed(List<GroupMember> now) {
        nodes = List.copyOf(now);
        members.forEach(member -> member.requester.changed(new Owners(member.node, nodes)));
    }

    GroupMember owner(ObjectVersion version, long position) {
        return new Owners(nodes.getFirst(), nodes).of(OwnedSlabs.of(version, position));
    }

    long bytesFetched() {
        return members.stream().mapToLong(member -> member.local.bytesFetched()).sum();
    }

    /** @see TestNode#late */
    long late() {
        return TestNode.late(members.stream().map(member -> member.counters.fallbacks()));
    }

    /** Checks that these bytes, which all members have read, were fetched once, except for late ones. */
    void assertFetchedOnce(long bytes) {
        assertThat(bytesFetched())
                .isBetween(bytes, bytes + late() * OwnedSlabs.SIZE)
                .isLessThan(members.size() * bytes);
    }

    int gets() {
        return members.stream().mapToInt(member -> member.local.gets()).sum();
    }

    /** An address of the loopback interface whose next port is free too. */
    static InetSocketAddress freeAddress() throws IOException {
        InetAddress loopback = InetAddress.ofLiteral("127.0.0.1");
        while (true) {
            try (ServerSocket first = new ServerSocket(0, 1, loopback)) {
                int port = first.getLocalPort();
                if (port < 65_535) {
                    new ServerSocket(port + 1, 1, loopback).close();
                    return new InetSocketAddress(loopback, port);
                }
            } catch (IOException e) {
                // the next port is in use
            }
        }
    }

    @Override
    public void close() {
        members.forEach(Member::close);
        clock.shutdownNow();
    }
}
