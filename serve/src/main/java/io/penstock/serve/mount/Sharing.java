package io.penstock.serve.mount;

import io.penstock.objectstore.s3.S3ObjectStore;
import io.penstock.prefetch.PageFetcher;
import io.penstock.serve.control.ShareStatus;
import io.penstock.settings.Peers;
import io.penstock.share.Discovery;
import io.penstock.share.ShareConfig;
import io.penstock.share.ShareException;
import io.penstock.share.ShareGroup;
import io.penstock.share.ShareStatistics;
import io.penstock.share.TlsFiles;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A mount's membership in a cache group. It joins on its own thread once the mount can be used. After a failure, the
 * mount works as it would alone. Where nothing is shared, no class of the group is loaded. Thread-safe.
 *
 * <pre>
 *   Joining ──▶ Joined
 *      ├──▶ Failed ──▶ Joined     tries again until it is closed
 * </pre>
 */
final class Sharing implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Sharing.class);

    private static final Duration PAUSE = Duration.ofSeconds(30);

    private sealed interface State {
        record Joining() implements State {}

        record Joined(ShareGroup group) implements State {}

        record Failed(String why) implements State {}
    }

    /** Joins the group once. */
    @FunctionalInterface
    interface Attempt {
        /** @throws ShareException if this node cannot join now */
        ShareGroup join() throws ShareException;
    }

    private final SharePlan plan;
    private final Attempt attempt;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread joining = Thread.ofVirtual().name("share").unstarted(this::join);

    /** Written by the joining thread. */
    private volatile State state = new State.Joining();

    private volatile long bandwidth;

    /** Starts to join. */
    Sharing(MountPlan mount, SharePlan plan, S3ObjectStore store, PageFetcher fetcher) {
        this(plan, () -> ShareGroup.start(config(mount, plan, store), fetcher, store.proof()));
    }

    Sharing(SharePlan plan, Attempt attempt) {
        this.plan = plan;
        this.attempt = attempt;
        this.bandwidth = plan.bandwidth();
        joining.start();
    }

    /** A problem in the plan that can be found before mounting, with the setting's name; null if there is none. */
    static @Nullable String objection(SharePlan plan) {
        try {
            TlsFiles tls = tls(plan);
            if (tls != null) {
                tls.check();
            }
            return null;
        } catch (ShareException e) {
            return e.getMessage();
        }
    }

    private static @Nullable TlsFiles tls(SharePlan plan) {
        SharePlan.Certificates files = plan.certificates();
        return files == null ? null : new TlsFiles(files.authority(), files.own(), files.key(), files.engine());
    }

    private void join() {
        try {
            while (!tryToJoin() && !closing.await(PAUSE.toSeconds(), TimeUnit.SECONDS)) {
                // try again
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // from close()
        }
    }

    private boolean tryToJoin() throws InterruptedException {
        try {
            ShareGroup group = attempt.join();
            state = new State.Joined(group);
            group.limit(bandwidth); // it may have changed while joining
            log.info("Joined the cache group; serving at {}", address());
            return true;
        } catch (ShareException | RuntimeException e) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            String why = String.valueOf(e instanceof ShareException ? e.getMessage() : e);
            if (!(state instanceof State.Failed(String before) && before.equals(why))) {
                log.warn("Cannot join the cache group, will retry: {}", why);
                log.debug("Cause of the failure to join the cache group", e);
            }
            state = new State.Failed(why);
            return false;
        }
    }

    private static ShareConfig config(MountPlan mount, SharePlan plan, S3ObjectStore store) {
        return new ShareConfig(
                switch (plan.peers()) {
                    case Peers.InBucket() ->
                        new Discovery.Folder(
                                new BucketFolder(store, mount.target().prefix()));
                    case Peers.OfName(String name, int port) -> new Discovery.Dns(name, port);
                    case Peers.Listed(List<InetSocketAddress> nodes) -> new Discovery.Addresses(nodes);
                },
                new InetSocketAddress(
                        plan.listen().getHostString(), plan.listen().getPort()),
                mount.cache().directory().resolve("share-id"),
                tls(plan),
                plan.bandwidth(),
                mount.owner()); // nodes that mount different parts of a bucket form different groups
    }

    private String address() {
        return plan.listen().getHostString() + ":" + plan.listen().getPort();
    }

    /** Null until it has joined. */
    @Nullable
    ShareGroup group() {
        return state instanceof State.Joined(ShareGroup group) ? group : null;
    }

    /** @param bytesPerSecond in each direction; 0 for no limit */
    void limit(long bytesPerSecond) {
        bandwidth = bytesPerSecond;
        ShareGroup group = group();
        if (group != null) {
            group.limit(bytesPerSecond);
        }
    }

    ShareStatus status() {
        return switch (state) {
            case State.Joining() -> outside(ShareStatus.State.JOINING, null);
            case State.Failed(String why) -> outside(ShareStatus.State.FAILED, why);
            case State.Joined(ShareGroup group) -> inside(group.statistics());
        };
    }

    private ShareStatus outside(ShareStatus.State how, @Nullable String why) {
        return new ShareStatus(how, why, address(), List.of(), 0, 0, Map.of(), 0, 0, Map.of(), 0);
    }

    private ShareStatus inside(ShareStatistics group) {
        return new ShareStatus(
                ShareStatus.State.JOINED,
                null,
                address(),
                group.members().stream()
                        .map(each ->
                                new ShareStatus.Member(each.id(), each.address(), each.share(), word(each.state())))
                        .toList(),
                group.bytesFromPeers(),
                group.requestsToPeers(),
                group.fallbacks().entrySet().stream()
                        .collect(Collectors.toMap(each -> word(each.getKey()), Map.Entry::getValue)),
                group.requestsServed(),
                group.bytesServed(),
                group.refusals().entrySet().stream()
                        .collect(Collectors.toMap(each -> each.getKey().toString(), Map.Entry::getValue)),
                group.getsForPeers());
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    /** Leaves the group. */
    @Override
    public void close() {
        closing.countDown(); // code that joins may swallow an interrupt
        joining.interrupt();
        boolean interrupted = false;
        while (joining.isAlive()) {
            try {
                joining.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        ShareGroup group = group();
        if (group != null) {
            group.close();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
