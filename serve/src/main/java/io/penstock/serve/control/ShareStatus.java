package io.penstock.serve.control;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A mount's part in a cache group now, and its traffic in and out since it joined.
 *
 * @param state how far it is
 * @param error why it has not joined; null in every other state
 * @param listen host and port at which other nodes reach it
 * @param members of the group, this node among them; empty until it has joined
 * @param bytesFromPeers bytes that other nodes brought
 * @param requestsToPeers requests that other nodes served
 * @param fallbacks runs of pages that another node owns and the store delivered, by the cause
 * @param requestsServed for other nodes
 * @param bytesServed sent to other nodes
 * @param refusals how often another node was refused, by status of HTTP
 * @param getsForPeers GETs to the store that requests of other nodes began
 */
public record ShareStatus(
        State state,
        @Nullable String error,
        String listen,
        List<Member> members,
        long bytesFromPeers,
        long requestsToPeers,
        Map<String, Long> fallbacks,
        long requestsServed,
        long bytesServed,
        Map<String, Long> refusals,
        long getsForPeers) {
    /** How far it is. */
    public enum State {
        JOINING,
        JOINED,
        /** It could not join, and tries again. */
        FAILED
    }

    /**
     * A node of the group.
     *
     * @param share of all data that it owns, 0 to 1
     * @param state {@code self}, {@code asked}, or {@code skipped} because it has failed
     */
    public record Member(String id, String address, double share, String state) {}

    /** Runs of pages that another node owns and the store delivered. */
    public long allFallbacks() {
        return fallbacks.values().stream().mapToLong(Long::longValue).sum();
    }
}
