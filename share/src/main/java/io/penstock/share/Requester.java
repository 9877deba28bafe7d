package io.penstock.share;

import io.penstock.cache.Urgency;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BucketProof;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.prefetch.PeerSource;
import io.penstock.share.ShareStatistics.Fallback;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Requests bytes from the owners of slabs. Safe for use by any number of threads. */
final class Requester implements PeerSource, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Requester.class);

    private static final long CHECK_SECONDS = 5;

    private final String namespace;
    private final Supplier<Owners> owners;
    private final Function<GroupMember, Peer> made;
    private final Bandwidth bandwidth;
    private final OwnProof proof;
    private final ShareCounters counters;
    private final Map<GroupMember, Peer> peers = new ConcurrentHashMap<>();
    private volatile boolean closed;

    /**
     * @param tls null for connections in the clear
     * @param clock ends requests without progress, and connections that have been idle for long
     */
    Requester(
            ShareConfig config,
            @Nullable SSLContext tls,
            Supplier<Owners> owners,
            BucketProof bucket,
            ScheduledExecutorService clock,
            ShareCounters counters) {
        this.namespace = config.namespace();
        this.owners = owners;
        this.bandwidth = new Bandwidth(config.bandwidth(), System::nanoTime);
        this.made = node -> new Peer(node.socketAddress(), tls, bandwidth, clock);
        this.proof = new OwnProof(bucket);
        this.counters = counters;
        Future<?> _ = clock.scheduleWithFixedDelay(this::closeLate, CHECK_SECONDS, CHECK_SECONDS, TimeUnit.SECONDS);
    }

    private void closeLate() {
        long now = System.nanoTime();
        peers.values().forEach(peer -> peer.closeLate(now));
    }

    @Override
    public void get(ObjectVersion version, ByteRange range, Urgency urgency, Sink sink) throws InterruptedException {
        Fallback cause = ask(version, range, urgency, sink);
        if (cause != null) {
            counters.fellBack(cause);
        }
    }

    /** See {@link ShareGroup#ask}. */
    @Nullable
    Fallback ask(ObjectVersion version, ByteRange range, Urgency urgency, Sink sink) throws InterruptedException {
        for (long at = range.offset(); at < range.end(); ) {
            long end = Math.min(OwnedSlabs.end(at), range.end());
            Owners now = owners.get();
            GroupMember owner = now.of(OwnedSlabs.of(version, at));
            if (closed || owner.equals(now.self())) {
                return null; // the store delivers the rest too, because bytes arrive in order
            }
            try {
                ask(owner, new PeerRequest(namespace, version, new ByteRange(at, end - at), urgency), sink);
            } catch (PeerFailure e) {
                LOG.debug("{} of {} not from {}: {}", range, version.key(), owner, e.getMessage());
                return e.fallback();
            }
            at = end;
        }
        return null;
    }

    @Override
    public long boundary(ObjectVersion version, long position) {
        return owners.get().nodes().size() > 1 ? OwnedSlabs.end(position) : Long.MAX_VALUE;
    }

    private void ask(GroupMember owner, PeerRequest request, Sink sink) throws PeerFailure, InterruptedException {
        Peer peer = peer(owner);
        String shown = proof();
        try {
            peer.get(request, shown, sink, bytes -> counters.bytesHad.add(bytes));
        } catch (PeerFailure e) {
            if (e.fallback() == Fallback.FORBIDDEN) {
                proof.drop(shown);
            }
            throw e;
        }
        counters.answersHad.increment();
    }

    private String proof() throws PeerFailure, InterruptedException {
        try {
            return proof.get();
        } catch (ObjectStoreException e) {
            throw new PeerFailure(Fallback.FORBIDDEN, "this node cannot prove its permission: " + e, e);
        }
    }

    private Peer peer(GroupMember node) throws PeerFailure {
        try {
            Peer peer = peers.computeIfAbsent(node, made);
            if (closed) {
                peer.close();
            }
            return peer;
        } catch (IllegalArgumentException e) {
            throw new PeerFailure(Fallback.UNREACHABLE, "not an address: " + node.address(), e);
        }
    }

    /** @param most bytes per second from now on; 0 for no limit */
    void limit(long most) {
        bandwidth.limit(most);
    }

    /** Whether the node is skipped for now. */
    boolean isSkipped(GroupMember node) {
        Peer peer = peers.get(node);
        return peer != null && peer.isSkipped();
    }

    /** The members have changed: ends the requests to those that have left. */
    void changed(Owners now) {
        peers.forEach((node, peer) -> {
            if (!now.nodes().contains(node) && peers.remove(node, peer)) {
                peer.close();
            }
        });
    }

    /** Ends the running requests. */
    @Override
    public void close() {
        closed = true;
        peers.values().forEach(Peer::close);
    }
}
