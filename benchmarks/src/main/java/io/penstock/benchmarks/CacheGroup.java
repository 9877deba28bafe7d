package io.penstock.benchmarks;

import io.penstock.embeddeds3.FreePorts;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Mounts of one bucket on this machine that share their caches; each is a separate node. One thread at a time. */
final class CacheGroup {
    private static final long JOIN_SECONDS = 60;
    private static final long LOOK_MILLIS = 200;

    private final BenchFolder folder;
    private final List<Node> nodes = new ArrayList<>();

    /** The mount of each node, in the order of the nodes. */
    private final List<MountProcess> running = new ArrayList<>();

    private record Node(String name, List<String> options) {}

    private CacheGroup(BenchFolder folder) {
        this.folder = folder;
    }

    /**
     * Starts this many nodes with empty caches. Returns when each node knows all others.
     *
     * @param authority that certifies them; null if every machine that reaches a node is trusted
     */
    static CacheGroup start(BenchFolder folder, @Nullable GroupAuthority authority, int count) throws Exception {
        CacheGroup group = new CacheGroup(folder);
        List<String> addresses = new ArrayList<>();
        for (int number = 1; number <= count; number++) {
            String address = "127.0.0." + number;
            addresses.add(address + ":" + FreePorts.first(2, address));
        }
        for (int number = 1; number <= count; number++) {
            List<String> options = new ArrayList<>(List.of(
                    "--share-peers=" + String.join(",", addresses), "--share-listen=" + addresses.get(number - 1)));
            options.addAll(authority == null ? List.of("--share-insecure") : authority.options(name(number)));
            Node node = new Node(name(number), options);
            group.nodes.add(node);
            group.running.add(folder.mount(node.name(), node.options()));
        }
        group.awaitMembers();
        return group;
    }

    /** The name of a node's mount, and of the folders for the same number of mounts that share nothing. */
    static String name(int number) {
        return "node" + number;
    }

    private void awaitMembers() throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(JOIN_SECONDS);
        while (traffic(running).members() < nodes.size()) {
            if (System.nanoTime() > deadline) {
                throw new BenchException("the nodes have not found each other within " + JOIN_SECONDS + " s:\n"
                        + BenchFolder.ask(running.getFirst(), "share status"));
            }
            Thread.sleep(LOOK_MILLIS);
        }
    }

    List<MountProcess> mounts() {
        return List.copyOf(running);
    }

    /** The traffic of these mounts since they were mounted. */
    GroupTraffic traffic(List<MountProcess> of) throws IOException, InterruptedException {
        List<GroupTraffic> each = new ArrayList<>();
        for (MountProcess mount : of) {
            each.add(GroupTraffic.parse(BenchFolder.ask(mount, "stats", "--once", "--json")));
        }
        return each.stream().reduce(GroupTraffic::plus).orElseThrow();
    }

    /** Fetches a file to the nodes that own it. */
    void warm(String file) throws IOException, InterruptedException {
        BenchFolder.ask(running.getFirst(), "warm", file, "--group");
    }

    /** Kills the last node's process, and mounts it again with the same cache. */
    void restartLast() throws Exception {
        MountProcess last = running.removeLast();
        last.kill();
        folder.unmount(last);
        Node node = nodes.getLast();
        running.add(folder.mountAgain(node.name(), node.options()));
    }

    void unmount() throws Exception {
        for (MountProcess mount : running.reversed()) {
            folder.unmount(mount);
        }
    }
}
