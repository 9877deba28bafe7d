package io.penstock.share;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the group's other members may be, looked up repeatedly. An address without a member costs a failed connection.
 * Safe for use by any number of threads.
 */
final class Addresses {
    private static final Logger LOG = LoggerFactory.getLogger(Addresses.class);

    /** JGroups asks every few seconds. Nodes that start together find each other soon; later, lookups are rare. */
    private static final Duration FRESH_AT_FIRST = Duration.ofSeconds(2);

    private static final Duration FRESH = Duration.ofSeconds(30);

    private static final Duration AT_FIRST = Duration.ofMinutes(1);

    private final Source source;
    private final long since = System.nanoTime();

    @GuardedBy("this")
    private @Nullable List<InetSocketAddress> last;

    /** {@link System#nanoTime} at the lookup of {@link #last}. */
    @GuardedBy("this")
    private long asked;

    @GuardedBy("this")
    private boolean failed;

    /** Looks up the members now. */
    @FunctionalInterface
    interface Source {
        /** @return the members' group addresses */
        List<InetSocketAddress> find() throws IOException, InterruptedException;
    }

    Addresses(Source source) {
        this.source = source;
    }

    static Addresses of(Discovery discovery) {
        return new Addresses(
                switch (discovery) {
                    case Discovery.Addresses addresses -> () -> resolve(addresses.unresolved());
                    case Discovery.Dns(String name, int port) ->
                        () -> at(InetAddress.getAllByName(name), port).toList();
                    case Discovery.Folder(ShareFolder folder) -> () -> Announcement.read(folder.list());
                });
    }

    /** The addresses known now; the last ones if the lookup fails. */
    synchronized List<InetSocketAddress> now() {
        long now = System.nanoTime();
        Duration fresh = now - since < AT_FIRST.toNanos() ? FRESH_AT_FIRST : FRESH;
        List<InetSocketAddress> known = last;
        if (known == null || now - asked > fresh.toNanos()) {
            asked = now;
            last = known = find(known == null ? List.of() : known);
        }
        return known;
    }

    @GuardedBy("this")
    private List<InetSocketAddress> find(List<InetSocketAddress> before) {
        try {
            List<InetSocketAddress> found = source.find();
            failed = false;
            return found;
        } catch (IOException e) {
            if (!failed) {
                LOG.warn("share.peers: cannot look up other nodes, will retry: {}", e.toString());
            }
            failed = true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return before;
    }

    /** A name that is unknown now has no addresses. */
    private static List<InetSocketAddress> resolve(List<InetSocketAddress> unresolved) {
        return unresolved.stream()
                .flatMap(one -> {
                    try {
                        return at(InetAddress.getAllByName(one.getHostString()), one.getPort());
                    } catch (UnknownHostException e) {
                        return Stream.empty();
                    }
                })
                .toList();
    }

    private static Stream<InetSocketAddress> at(InetAddress[] hosts, int port) {
        return Arrays.stream(hosts).map(host -> new InetSocketAddress(host, port + 1));
    }
}
