package io.penstock.share;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This node's name in the group's folder, put there each minute and removed at the end. Names of nodes that could not
 * remove theirs are removed after a day.
 */
final class Announcement implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Announcement.class);

    private static final Duration INTERVAL = Duration.ofMinutes(1);

    /** A node has left if its name was not put again for this long. */
    private static final Duration LIFE = Duration.ofMinutes(3);

    /** Older names are removed. */
    private static final Duration KEPT = Duration.ofDays(1);

    private static final Duration CLEANING_INTERVAL = Duration.ofHours(1);

    /** The maximum at a time: during a removal, this node's own name is not put again. */
    private static final int MOST_REMOVED = 100;

    private final ShareFolder folder;
    private final String name;
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(
            Thread.ofVirtual().name("share-announcement").factory());

    private Announcement(ShareFolder folder, InetSocketAddress listen) {
        this.folder = folder;
        this.name = name(listen);
    }

    /** Puts the name there before it returns. */
    static Announcement start(ShareFolder folder, InetSocketAddress listen) throws InterruptedException {
        Announcement announcement = new Announcement(folder, listen);
        try {
            folder.put(announcement.name);
        } catch (IOException e) {
            LOG.warn(
                    "share.peers: cannot write this node's name to the bucket, so other nodes cannot find it: {}",
                    "" + e);
        }
        announcement.repeat(announcement::putAgain, INTERVAL);
        announcement.repeat(announcement::removeOld, CLEANING_INTERVAL);
        return announcement;
    }

    private void repeat(Runnable work, Duration pause) {
        Future<?> _ = clock.scheduleWithFixedDelay(work, INTERVAL.toMillis(), pause.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void putAgain() {
        try {
            folder.put(name);
        } catch (IOException e) {
            LOG.debug("cannot write this node's name to the bucket", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Removes the names that departed nodes left behind, because all nodes list them repeatedly. */
    void removeOld() {
        try {
            Map<String, Instant> names = folder.list();
            Instant oldest = oldest(names, KEPT);
            List<String> old = names.entrySet().stream()
                    .filter(each -> each.getValue().isBefore(oldest))
                    .map(Map.Entry::getKey)
                    .filter(each -> address(each).findAny().isPresent())
                    .limit(MOST_REMOVED)
                    .toList();
            for (String each : old) {
                folder.remove(each);
            }
        } catch (IOException e) {
            LOG.debug("the names of nodes that have left stay in the bucket", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ages are relative to the newest name, so that only the store's clock counts. */
    private static Instant oldest(Map<String, Instant> names, Duration age) {
        return names.values().stream()
                .max(Comparator.naturalOrder())
                .orElse(Instant.EPOCH)
                .minus(age);
    }

    /** Address and port of its bytes, without colons, which object names must not have. */
    static String name(InetSocketAddress listen) {
        String host = listen.getAddress().getHostAddress().replaceFirst("%.*", "");
        return host.replace(':', '-') + "_" + listen.getPort();
    }

    /** The nodes' group addresses. */
    static List<InetSocketAddress> read(Map<String, Instant> names) {
        Instant oldest = oldest(names, LIFE);
        return names.entrySet().stream()
                .filter(name -> name.getValue().isAfter(oldest))
                .flatMap(name -> address(name.getKey()))
                .toList();
    }

    /** Empty if the name is not a node's. Does no DNS lookup, because any client may have put the name there. */
    private static Stream<InetSocketAddress> address(String name) {
        int end = name.lastIndexOf('_');
        try {
            String host = name.substring(0, Math.max(0, end)).replace('-', ':');
            int port = Integer.parseInt(name.substring(end + 1));
            return Stream.of(new InetSocketAddress(InetAddress.ofLiteral(host), port + 1));
        } catch (IllegalArgumentException e) {
            return Stream.empty();
        }
    }

    @Override
    public void close() {
        clock.shutdownNow();
        try {
            folder.remove(name);
        } catch (IOException e) {
            LOG.debug("this node's name stays in the bucket", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
