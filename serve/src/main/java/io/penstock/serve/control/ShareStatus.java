package io.penstock.serve.control;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A mount's current part in a cache group, and its traffic since it joined.
 *
 * @param state whether it has joined
 * @param error why it has not joined; null in every other state
 * @param listen host and port at which other nodes reach it
 * @param members the group's nodes, including this one; empty until it has joined
 * @param bytesFromPeers bytes received from other nodes
 * @param requestsToPeers requests that other nodes served
 * @param fallbacks runs of pages that another node owns but the store delivered, by cause
 * @param requestsServed requests served for other nodes
 * @param bytesServed bytes sent to other nodes
 * @param refusals how often another node was refused, by HTTP status
 * @param getsForPeers GETs to the store that requests of other nodes caused
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
    /** Whether the mount has joined. */
    public enum State {
        JOINING,
        JOINED,
        /** It could not join, and will retry. */
        FAILED
    }

    /**
     * A node of the group.
     *
     * @param share the share of all data that it owns, 0 to 1
     * @param state {@code self}, {@code asked}, or {@code skipped} because it has failed
     */
    public record Member(String id, String address, double share, String state) {}

    /** Runs of pages that another node owns but the store delivered. */
    public long allFallbacks() {
        return fallbacks.values().stream().mapToLong(Long::longValue).sum();
    }
}
