package io.penstock.share;

import java.util.List;
import java.util.Map;

/**
 * The group as a node sees it now, and what it has had and given since it joined.
 *
 * @param members this node among them, by their addresses
 * @param bytesFromPeers bytes that other nodes brought
 * @param requestsToPeers requests that other nodes answered
 * @param fallbacks how often the store was asked for what another node owns, by cause; all causes
 * @param requestsServed answered for other nodes
 * @param bytesServed sent to other nodes
 * @param refusals how often another node was refused, by status of HTTP
 * @param getsForPeers GETs to the store that requests of other nodes began
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
     * @param id kept across restarts
     * @param address host and port of its bytes
     * @param share of all slabs that it owns, 0 to 1; estimated from a sample
     * @param state how this node gets along with it
     */
    public record Member(String id, String address, double share, PeerState state) {}

    /** How a node gets along with another. */
    public enum PeerState {
        /** The node itself. */
        SELF,
        /** Is asked. */
        ASKED,
        /** Has failed several times in a row, and is not asked for a while. */
        SKIPPED
    }

    /** Why a page of another node came from the store. */
    public enum Fallback {
        /** It has failed before, and is not asked for a while. */
        SKIPPED,
        /** This node has as much under way from it, or by the bandwidth, as it may. */
        LIMITED,
        /** It could not be connected to, or the connection broke, as it does where its store fails within a response. */
        UNREACHABLE,
        /** It did not answer, or went on too slowly. */
        TIMEOUT,
        /** It had no room or no bandwidth. */
        BUSY,
        /** It does not take this node's right to the bucket for proven. */
        FORBIDDEN,
        /** It is of another bucket or speaks another version of the protocol. */
        FOREIGN,
        /** Its store failed. */
        STORE,
        /** Its store has another version of the object, or none. */
        CHANGED,
        /** It sent a wrong response: no HTTP, other bytes than it was asked for, or a wrong checksum. */
        CORRUPT
    }
}
