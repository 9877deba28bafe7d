package io.penstock.objectstore.s3;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * The addresses of a server's name. Connections use them in turn, and skip for a while an address that failed to
 * connect. Safe for use by any number of threads.
 */
final class ServerAddresses {
    /** How long an address is skipped: a server that is gone leaves the name within about a minute. */
    private static final long PAUSE_NANOS = Duration.ofMinutes(1).toNanos();

    /** Resolves a name at this moment. */
    @FunctionalInterface
    interface Resolver {
        /** @return one or more, the preferred family first */
        InetAddress[] resolve(String host) throws UnknownHostException;
    }

    private final String host;
    private final Resolver resolver;
    private final LongSupplier nanoTime;
    private final AtomicInteger turn = new AtomicInteger();

    /** When each address failed to connect. */
    private final Map<InetAddress, Long> failed = new ConcurrentHashMap<>();

    /** @param nanoTime as {@link System#nanoTime} */
    ServerAddresses(String host, Resolver resolver, LongSupplier nanoTime) {
        this.host = host;
        this.resolver = resolver;
        this.nanoTime = nanoTime;
    }

    /**
     * The addresses for one connection, at least one, in the order to try. The next connection starts at another
     * address of the same family; the other family comes last, because not every network carries both. If all have
     * failed, returns one of them: waiting for each would take too long.
     */
    List<InetAddress> next() throws UnknownHostException {
        // resolved each time: S3 spreads its load by changing the name's addresses
        InetAddress[] all = resolver.resolve(host);
        int first = turn.getAndIncrement();
        long now = nanoTime.getAsLong();
        failed.values().removeIf(then -> now - then >= PAUSE_NANOS);
        List<InetAddress> preferred = new ArrayList<>();
        List<InetAddress> others = new ArrayList<>();
        for (InetAddress address : all) {
            if (!failed.containsKey(address)) {
                (address.getClass() == all[0].getClass() ? preferred : others).add(address);
            }
        }
        if (preferred.isEmpty() && others.isEmpty()) {
            return List.of(all[Math.floorMod(first, all.length)]);
        }
        Collections.rotate(preferred, -first);
        preferred.addAll(others);
        return preferred;
    }

    /** Records that the address accepted a connection. */
    void succeeded(InetAddress address) {
        failed.remove(address);
    }

    /** Records that the address accepted no connection. */
    void failed(InetAddress address) {
        failed.put(address, nanoTime.getAsLong());
    }
}
