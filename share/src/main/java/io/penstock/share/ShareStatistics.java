package io.penstock.share;

import java.util.List;
import java.util.Map;

/**
 * The group as a node sees it now, and what the node has received and sent since it joined.
 *
 * @param members in the order of their addresses, this node among them
 * @param bytesFromPeers bytes that other nodes delivered
 * @param requestsToPeers requests that other nodes served
 * @param fallbacks how often the store was asked for another node's bytes, by cause; has all causes
 * @param requestsServed requests answered for other nodes
 * @param bytesServed bytes sent to other nodes
 * @param refusals how often another node was refused, by HTTP status
 * @param getsForPeers GETs to the store caused by requests of other nodes
 */
public record ShareStatistics(
        List<Member> members,
        long bytesFromPeers,
        long requestsToPeers,
        Map<Fallback, Long> fallbacks,
        long requestsServed,
        long bytesServed,
        Map<Integer, Long> refusals,
        long getsForPeers) {
    public ShareStatistics {
        members = List.copyOf(members);
        fallbacks = Map.copyOf(fallbacks);
        refusals = Map.copyOf(refusals);
    }

    /**
     * A node of the group.
     *
     * @param id stays the same across restarts
     * @param address host and port of its bytes
     * @param share the share of all slabs that it owns, 0 to 1; estimated from a sample
     * @param state whether this node sends requests to it
     */
    public record Member(String id, String address, double share, PeerState state) {}

    /** Whether a node sends requests to another. */
    public enum PeerState {
        /** The node itself. */
        SELF,
        /** Receives requests. */
        ASKED,
        /** Has failed several times in a row, and receives no requests for a while. */
        SKIPPED
    }

    /** Why a page that another node owns came from the store. */
    public enum Fallback {
        /** It failed earlier, and receives no requests for a while. */
        SKIPPED,
        /** This node has reached its limit of requests to it, or of bandwidth. */
        LIMITED,
        /** No connection could be made, or it broke, as it does where the node's store fails within a response. */
        UNREACHABLE,
        /** It did not respond, or sent too slowly. */
        TIMEOUT,
        /** It had no room or no bandwidth. */
        BUSY,
        /** It does not accept this node's proof that it may read the bucket. */
        FORBIDDEN,
        /** It serves another bucket, or speaks another version of the protocol. */
        FOREIGN,
        /** Its store failed. */
        STORE,
        /** Its store has another version of the object, or none. */
        CHANGED,
        /** It sent a malformed response: no HTTP, other bytes than requested, or a wrong checksum. */
        CORRUPT
    }
}
