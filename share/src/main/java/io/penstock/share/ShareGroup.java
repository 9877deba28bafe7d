package io.penstock.share;

import io.penstock.cache.Urgency;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BucketProof;
import io.penstock.objectstore.http.TlsEngine;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.PeerSource;
import io.penstock.share.ShareStatistics.Fallback;
import io.penstock.share.ShareStatistics.Member;
import io.penstock.share.ShareStatistics.PeerState;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * This node as a member of a cache group: it requests bytes from their owners before it asks the store, and serves the
 * bytes that it owns. Safe for use by any number of threads.
 */
public final class ShareGroup implements PeerSource, AutoCloseable {
    /** Bytes per slab. Slabs are aligned to this size, and each has one owner. */
    public static final long SLAB = OwnedSlabs.SIZE;

    private final ShareConfig config;
    private final PageFetcher fetcher;
    private final ShareCounters counters = new ShareCounters();
    private final ScheduledThreadPoolExecutor clock = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("share-clock").factory());
    private final Requester requester;
    private final Membership membership;
    private final PeerServer server;

    /** In the order of closing. */
    private final List<AutoCloseable> open = new ArrayList<>();

    private ShareGroup(ShareConfig config, PageFetcher fetcher, BucketProof proof) throws ShareException {
        this.config = config;
        this.fetcher = fetcher;
        clock.setRemoveOnCancelPolicy(true);
        try {
            SSLContext tls = config.tls() == null
                    ? null
                    : GroupTls.context(config.tls(), config.tls().engine());
            this.requester = new Requester(config, tls, this::owners, proof, clock, counters);
            this.membership = membership(NodeIdentity.of(config.identityFile()));
            open.add(requester);
            open.add(membership);
            ProvenNodes proven = new ProvenNodes(proof, System::nanoTime);
            this.server = new PeerServer(config, tls, mostConnections(), fetcher, proven, clock, counters);
            open.add(server);
            join();
        } catch (ShareException | RuntimeException e) {
            closeAll();
            throw e;
        }
    }

    /**
     * Joins the group, and makes it a source of the fetcher. Waits up to some seconds for other nodes.
     *
     * @param fetcher reads for other nodes, and asks them from now on; the caller closes it, after this
     * @throws ShareException if this node cannot be part of the group
     */
    public static ShareGroup start(ShareConfig config, PageFetcher fetcher, BucketProof proof) throws ShareException {
        InetAddress address = config.listen().getAddress();
        if (address == null || address.isAnyLocalAddress()) {
            throw new ShareException(
                    "share.listen: " + config.listen().getHostString()
                            + " is not an address that other nodes can connect to; set one of this machine",
                    null);
        }
        ShareGroup group = new ShareGroup(config, fetcher, proof);
        fetcher.setPeers(group);
        return group;
    }

    private Membership membership(String id) throws ShareException {
        SSLContext tls = config.tls() == null ? null : GroupTls.context(config.tls(), TlsEngine.JDK);
        Addresses addresses = Addresses.of(config.discovery());
        try {
            return new Membership(
                    new GroupMember(id, GroupMember.address(config.listen())),
                    new GroupTransport(config.groupAddress(), tls),
                    new AddressDiscovery(addresses::now),
                    requester::changed);
        } catch (Exception e) { // JGroups declares no more specific one
            throw new ShareException("the group's membership cannot be set up: " + e, e);
        }
    }

    private void join() throws ShareException {
        try {
            if (config.discovery() instanceof Discovery.Folder(ShareFolder folder)) {
                open.addFirst(Announcement.start(folder, config.listen()));
            }
            membership.join(Membership.group(config.namespace()));
        } catch (Exception e) { // JGroups declares no more specific one
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            throw new ShareException(
                    "share.listen: the group cannot be joined at " + config.groupAddress()
                            + " (the port after that of share.listen must be free): " + e,
                    e);
        }
    }

    /** From other nodes: 60 KiB of heap each with TLS. Strangers may take up an eighth of them. */
    private static int mostConnections() {
        return Math.toIntExact(Runtime.getRuntime().maxMemory() >> 19);
    }

    private Owners owners() {
        return membership.owners();
    }

    @Override
    public void get(ObjectVersion version, ByteRange range, Urgency urgency, Sink sink) throws InterruptedException {
        requester.get(version, range, urgency, sink);
    }

    /**
     * Requests bytes like {@link #get}, for a caller that does not turn to the store: counts no fallback.
     *
     * @return why an owner has not delivered all of its part; null if all bytes arrived, or this node owns the next one
     */
    public @Nullable Fallback ask(ObjectVersion version, ByteRange range, Urgency urgency, Sink sink)
            throws InterruptedException {
        return requester.ask(version, range, urgency, sink);
    }

    @Override
    public long boundary(ObjectVersion version, long position) {
        return requester.boundary(version, position);
    }

    /** Whether this node fetches this byte of the object for the group. */
    public boolean owns(ObjectVersion version, long position) {
        Owners now = owners();
        return now.of(OwnedSlabs.of(version, position)).equals(now.self());
    }

    /**
     * Limits the bytes between nodes from now on.
     *
     * @param bytesPerSecond in each direction; 0 for no limit
     */
    public void limit(long bytesPerSecond) {
        requester.limit(bytesPerSecond);
        server.limit(bytesPerSecond);
    }

    /** The group now, and what this node has received and sent so far. */
    public ShareStatistics statistics() {
        return new ShareStatistics(
                members(),
                counters.bytesHad.sum(),
                counters.answersHad.sum(),
                counters.fallbacks(),
                counters.requestsServed.sum(),
                counters.bytesServed.sum(),
                counters.refusals(),
                counters.getsForPeers.sum());
    }

    private List<Member> members() {
        Owners now = owners();
        double[] shares = now.shares();
        List<Member> members = new ArrayList<>();
        for (int i = 0; i < shares.length; i++) {
            GroupMember node = now.nodes().get(i);
            members.add(new Member(node.id(), node.address(), shares[i], state(now, node)));
        }
        members.sort(Comparator.comparing(Member::address));
        return members;
    }

    private PeerState state(Owners now, GroupMember node) {
        if (node.equals(now.self())) {
            return PeerState.SELF;
        }
        return requester.isSkipped(node) ? PeerState.SKIPPED : PeerState.ASKED;
    }

    /** Ends the running requests, and leaves the group. */
    @Override
    public void close() {
        fetcher.setPeers(PeerSource.NONE);
        closeAll();
    }

    private void closeAll() {
        for (AutoCloseable one : open) {
            try {
                one.close();
            } catch (Exception e) { // none of them declares any
                throw new IllegalStateException(e);
            }
        }
        open.clear();
        clock.shutdownNow();
    }
}
