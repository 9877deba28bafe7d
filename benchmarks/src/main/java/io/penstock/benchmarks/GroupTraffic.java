package io.penstock.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import java.util.stream.Collectors;

/**
 * Where the nodes of a group got their bytes.
 *
 * @param fetched bytes from the store
 * @param gets range GETs to the store
 * @param fromPeers bytes from other nodes
 * @param fallbacks number of requests to the store for what another node owns, by cause
 * @param members of the group, as seen by the node that saw the fewest
 */
record GroupTraffic(long fetched, long gets, long fromPeers, Map<String, Long> fallbacks, int members) {
    private static final ObjectMapper JSON = new ObjectMapper();

    GroupTraffic {
        fallbacks = Map.copyOf(fallbacks);
    }

    /** @param text the output of {@code penstock stats --once --json} */
    static GroupTraffic parse(String text) throws IOException {
        JsonNode statistics = JSON.readTree(text.substring(Math.max(0, text.indexOf('{'))));
        JsonNode share = statistics.path("share");
        JsonNode fetched = statistics.path("readahead").path("bytesFetched");
        if (!fetched.isNumber() || !share.path("bytesFromPeers").isNumber()) {
            throw new IOException("these are no statistics of a mount that shares: " + text.strip());
        }
        Map<String, Long> fallbacks = new TreeMap<>();
        share.path("fallbacks")
                .properties()
                .forEach(cause -> fallbacks.put(cause.getKey(), cause.getValue().asLong()));
        return new GroupTraffic(
                fetched.asLong(),
                statistics.path("readahead").path("demandGets").asLong()
                        + statistics.path("readahead").path("readaheadGets").asLong(),
                share.path("bytesFromPeers").asLong(),
                fallbacks,
                share.path("members").size());
    }

    /** The sum of both. */
    GroupTraffic plus(GroupTraffic other) {
        return combine(other, Long::sum);
    }

    /** @param before traffic of the same nodes, earlier */
    GroupTraffic since(GroupTraffic before) {
        return combine(before, (now, then) -> now - then);
    }

    private GroupTraffic combine(GroupTraffic other, BinaryOperator<Long> by) {
        Map<String, Long> all = new TreeMap<>(fallbacks);
        other.fallbacks.forEach((cause, count) -> all.put(cause, by.apply(all.getOrDefault(cause, 0L), count)));
        return new GroupTraffic(
                by.apply(fetched, other.fetched),
                by.apply(gets, other.gets),
                by.apply(fromPeers, other.fromPeers),
                all,
                Math.min(members, other.members));
    }

    /** The causes that occurred, such as {@code 3 busy, 1 timeout}; a dash for none. */
    String causes() {
        String list = new TreeMap<>(fallbacks)
                .entrySet().stream()
                        .filter(cause -> cause.getValue() > 0)
                        .map(cause -> cause.getValue() + " " + cause.getKey())
                        .collect(Collectors.joining(", "));
        return list.isEmpty() ? "–" : list;
    }
}
