package io.penstock.share;

import io.penstock.cache.Urgency;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.PeerSource;
import java.util.List;
import java.util.Map;

/** This node as a member of a cache group. Safe for use by any number of threads. */
public final class ShareGroup implements PeerSource, AutoCloseable {
    private final PageFetcher fetcher;

    private ShareGroup(PageFetcher fetcher) {
        this.fetcher = fetcher;
    }

    /**
     * Joins the group, and makes it a source of the fetcher. Waits some seconds for other nodes.
     *
     * @param fetcher reads for other nodes, and asks them from now on; the caller closes it, after this
     * @throws ShareException if this node cannot be part of the group
     */
    public static ShareGroup start(ShareConfig config, PageFetcher fetcher, BucketProof proof) throws ShareException {
        ShareGroup group = new ShareGroup(fetcher);
        fetcher.setPeers(group);
        return group;
    }

    @Override
    public void get(ObjectVersion version, ByteRange range, Urgency urgency, BodySink sink)
            throws InterruptedException {}

    /** Whether this node is the one that fetches this byte of the object for the group. */
    public boolean owns(ObjectVersion version, long position) {
        return true;
    }

    /** What the group is now, and what it has done so far. */
    public ShareStatistics statistics() {
        return new ShareStatistics(List.of(), 0, 0, 0, Map.of(), 0, 0, Map.of(), 0);
    }

    /** Leaves the group, once the requests that run are cancelled. */
    @Override
    public void close() {
        fetcher.setPeers(PeerSource.NONE);
    }
}
