package io.penstock.it;

import static io.penstock.it.CacheGroup.atOnce;
import static io.penstock.it.CacheGroup.awaitMembers;
import static io.penstock.it.CacheGroup.members;
import static io.penstock.it.CacheGroup.size;
import static io.penstock.it.CacheGroup.statistic;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.it.NodeNetwork.Cut;
import io.penstock.testing.TestData;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Three nodes with their own networks, when a network or a node is in a bad state: all reads are right, none fails, and
 * none takes long.
 */
@Tag("long")
@Timeout(600)
final class ShareNetworkIT {
    private static final long MIB = 1 << 20;
    private static final int NODES = 3;

    /** Port of a node's metrics. */
    private static final int METRICS = 9400;

    /** Twice a node's cache; the period is not a power of two, so bytes of another place would be detected. */
    private static final RepeatedData GIANT = new RepeatedData("4GiB.bin", 4L << 30, 63 << 20);

    /** A deadline, far above the expectation for a busy machine. */
    private static final Duration LONGEST_READ = Duration.ofSeconds(30);

    private static final S3Server SERVER = S3Server.shared();

    @TempDir
    private Path scratch;

    private NodeNetwork network;
    private TestBucket bucket;
    private CacheGroup group;
    private final AtomicLong longestRead = new AtomicLong();

    private final TestData large = TestData.of("large.bin", 48 * MIB + 12_345);
    private final TestData second = TestData.of("second.bin", 40 * MIB + 1);
    private final TestData huge = TestData.of("huge.bin", 256 * MIB);
    private final List<TestData> small = files("small", 60);

    private static List<TestData> files(String folder, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> TestData.of("%s/%03d.jpg".formatted(folder, i), 20_000 + 1_997 * i))
                .toList();
    }

    @BeforeEach
    void build() throws Exception {
        String obstacle = NodeNetwork.obstacle();
        if (obstacle != null) {
            skip("no tests of nodes with networks of their own: " + obstacle);
        }
        network = new NodeNetwork(SERVER, NODES);
        bucket = new TestBucket(SERVER);
        bucket.put(large);
        bucket.put(second);
        bucket.putAll(small);
        group = new CacheGroup(network.server(), bucket.name(), scratch);
        group.authority("group");
    }

    /** Prints a line for bin/test. */
    private static void skip(String why) {
        System.out.println("test: " + why);
        assumeTrue(false, why);
    }

    @AfterEach
    void remove(TestInfo test) throws Exception {
        if (network == null) {
            return;
        }
        say(test.getDisplayName() + ": longest read "
                + Duration.ofNanos(longestRead.get()).toMillis() + " ms");
        try (NodeNetwork _ = network;
                TestBucket _ = bucket;
                CacheGroup _ = group) {
            assertThat(Duration.ofNanos(longestRead.get())).isLessThan(LONGEST_READ);
        }
    }

    private static void say(String line) {
        System.out.println("nodes: " + line);
    }

    // ---- nodes

    private MountedBucket start(int number, String... options) throws Exception {
        return start(number, Map.of(), options);
    }

    /** With a certificate, unless the options exclude it. */
    private MountedBucket start(int number, Map<String, String> environment, String... options) throws Exception {
        List<String> all = new ArrayList<>(List.of(options));
        if (!all.contains("--share-insecure") && !all.contains("--share-tls-ca")) {
            group.certificate("group", name(number));
            all.addAll(group.tls("group", name(number)));
        }
        return group.start(number, network.on(number, environment), addresses(), NodeNetwork.address(number), all);
    }

    private static String name(int number) {
        return "node" + number;
    }

    private static String addresses() {
        return IntStream.rangeClosed(1, NODES).mapToObj(NodeNetwork::address).collect(Collectors.joining(","));
    }

    private void startGroup(String... options) throws Exception {
        for (int number = 1; number <= NODES; number++) {
            start(number, options);
        }
        awaitOneGroup();
    }

    /** Returns the seconds that it took. */
    private double awaitOneGroup() throws Exception {
        long begun = System.nanoTime();
        for (MountedBucket node : group.nodes()) {
            awaitMembers(node, group.nodes().size());
        }
        return seconds(begun);
    }

    private static double seconds(long since) {
        return Duration.ofNanos(System.nanoTime() - since).toMillis() / 1_000.0;
    }

    // ---- readers

    private Void read(MountedBucket node, List<TestData> files) throws Exception {
        for (TestData file : files) {
            long begun = System.nanoTime();
            InputStream in = Files.newInputStream(node.path().resolve(file.name()));
            took(begun);
            try (InputStream timed = new TimedStream(in)) {
                TestBucket.verify(file, timed);
            }
        }
        return null;
    }

    private void took(long since) {
        longestRead.accumulateAndGet(System.nanoTime() - since, Math::max);
    }

    private final class TimedStream extends FilterInputStream {
        TimedStream(InputStream in) {
            super(in);
        }

        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            long begun = System.nanoTime();
            try {
                return super.read(to, offset, length);
            } finally {
                took(begun);
            }
        }
    }

    private Callable<Void> reader(int number, TestData... files) {
        return () -> read(group.node(number), List.of(files));
    }

    private void allRead(TestData... files) throws Exception {
        List<Callable<Void>> readers = new ArrayList<>();
        group.nodes().forEach(node -> readers.add(() -> read(node, List.of(files))));
        atOnce(readers);
    }

    /** Waits for the other readers after every two slabs. */
    private Void readInStep(MountedBucket node, RepeatedData file, CyclicBarrier step) throws Exception {
        byte[] buffer = new byte[16 << 20];
        try (InputStream in = new TimedStream(Files.newInputStream(node.path().resolve(file.name())))) {
            long at = 0;
            for (int n = in.readNBytes(buffer, 0, buffer.length); n > 0; n = in.readNBytes(buffer, 0, buffer.length)) {
                assertThat(Arrays.equals(buffer, 0, n, file.bytes(at, n), 0, n))
                        .as("%s from %d on".formatted(file.name(), at))
                        .isTrue();
                at += n;
                step.await(CacheGroup.PATIENCE.toMillis(), MILLISECONDS);
            }
            assertThat(at).isEqualTo(file.size());
        }
        return null;
    }

    /** After any fault of the third node: it is a member again, and sends and receives bytes not read before. */
    private void assertShares(TestData unread) throws Exception {
        say("one group again after " + awaitOneGroup() + " s");
        MountedBucket node = group.node(3);
        long had = statistic(node, "bytesFromPeers");
        long given = statistic(node, "bytesServed");
        allRead(unread);
        AtomicInteger tries = new AtomicInteger();
        eventually("the third node gives and takes", () -> {
            if (statistic(node, "bytesFromPeers") > had && statistic(node, "bytesServed") > given) {
                return true;
            }
            TestData fresh = TestData.of("fresh-" + tries.incrementAndGet(), 100_000);
            bucket.put(fresh);
            allRead(fresh);
            return false;
        });
    }

    /** A failed node is contacted again after some time, at most a minute. */
    private static void eventually(String what, Callable<Boolean> condition) throws Exception {
        Await.until(what, CacheGroup.PATIENCE, Duration.ofMillis(500), condition);
    }

    // ---- the network

    @ParameterizedTest
    @EnumSource(Cut.class)
    void aNodeIsPartedFromTheOthers_allReadFromTheStore_andShareAgainLater(Cut cut) throws Exception {
        startGroup();
        network.cut(3, cut);

        allRead(large);

        awaitMembers(group.node(1), 2);
        awaitMembers(group.node(2), 2);
        awaitMembers(group.node(3), 1);
        network.heal(3);
        assertShares(second);
    }

    @Test
    void aNodeSendsSlowly_othersReadFromTheStore() throws Exception {
        startGroup();
        if (!network.slow(3)) {
            System.out.println("test: the kernel has no netem: slow nodes are slow, but lose nothing");
        }

        allRead(large);

        say(group.groups());
        network.hurry(3);
        assertShares(second);
    }

    @Test
    void packetsBetweenNodesAreLost_allRead_andStillHaveBytesOfEachOther() throws Exception {
        startGroup();
        if (!network.lose()) {
            skip("no nft: packets between mounts are not lost");
        }
        if (!network.delay()) {
            System.out.println("test: the kernel has no netem: packets between nodes are lost, but none is late");
        }

        List<TestData> all = new ArrayList<>(small);
        all.addAll(List.of(large, second));
        allRead(all.toArray(TestData[]::new));

        say(network.lost() + " packets were lost\n" + group.groups());
        assertThat(network.lost()).isPositive();
        for (MountedBucket node : group.nodes()) {
            assertThat(statistic(node, "bytesFromPeers")).as(group.groups()).isPositive();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 50})
    void nodesAreFarFromEachOther_allRead_mostOfItFromEachOther(int millisEachWay) throws Exception {
        Optional<Path> toxiproxy = ToxicWire.binary();
        if (toxiproxy.isEmpty() || !network.detour()) {
            skip("no Toxiproxy or no nft: bytes between mounts are not late");
        }
        List<TestData> all = new ArrayList<>(small);
        all.addAll(List.of(large, second));
        try (FarNodes _ = new FarNodes(NODES, millisEachWay, toxiproxy.orElseThrow(), scratch)) {
            startGroup();

            allRead(all.toArray(TestData[]::new));

            say(group.groups());
            assertThat(network.detoured()).isPositive();
            assertThat(group.sum("bytesFromPeers")).as(group.groups()).isGreaterThan(size(all)); // of twice as many
            group.close();
        }
    }

    @Test
    void bytesAreChangedOnTheWay_whereThereIsNoTls_nobodyReadsThem() throws Exception {
        startGroup("--share-insecure");
        if (!network.damage(3)) {
            skip("no nft: bytes are not changed on their way between mounts");
        }

        allRead(large, second);

        assertThat(group.groups()).contains("corrupt");
    }

    // ---- nodes that end, stop and join

    @Test
    void aNodeIsKilledWhileOthersRead_andServesWhatItHadWhenItIsStartedAgain() throws Exception {
        startGroup();
        read(group.node(1), List.of(large));
        MountedBucket victim = group.node(3);
        awaitStored(victim);

        atOnce(List.of(reader(1, second), reader(2, second), () -> {
            victim.kill();
            return null;
        }));
        group.ended(3);
        say("without it " + awaitOneGroup() + " s after they have read");
        start(3);
        say("with it " + awaitOneGroup() + " s after it was mounted");
        network.store().drainObjectGets(bucket.name());
        read(group.node(2), List.of(large));

        say("GETs of what the nodes had: " + network.store().drainObjectGets(bucket.name()));
        assertThat(statistic(group.node(3), "bytesServed")).as(group.groups()).isPositive();
        assertThat(statistic(group.node(3), "bytesFetched")).as(group.groups()).isZero();
    }

    @Test
    void aNodeIsStopped_othersRead_andItIsOneOfThemAgainLater() throws Exception {
        startGroup();
        String victim = Long.toString(group.node(3).process().pid());
        Program.shell(scratch, "kill -STOP " + victim).orThrow();
        long begun = System.nanoTime();
        try {
            atOnce(List.of(reader(1, large), reader(2, large)));
            awaitMembers(group.node(1), 2);
            say("without it after " + seconds(begun) + " s at most");
        } finally {
            Program.shell(scratch, "kill -CONT " + victim).orThrow();
        }
        assertShares(second);
    }

    @Test
    void aNodeJoinsWhileOthersRead_andServesSoon() throws Exception {
        bucket.put(huge);
        start(1, "--metadata-ttl", "0s", "--metadata-negative-ttl", "0s"); // sees new names immediately
        start(2);
        awaitOneGroup();
        AtomicBoolean serves = new AtomicBoolean();
        atOnce(List.of(reader(1, huge), reader(2, huge), () -> {
            String metrics = NodeNetwork.addressOfTheStoresNetwork(3, METRICS);
            start(3, "--metrics", metrics);
            long mounted = System.nanoTime();
            for (int round = 0; !serves.get(); round++) {
                assertThat(seconds(mounted)).as("seconds until it serves").isLessThan(60);
                List<TestData> fresh = files("fresh-" + round, 12); // the new node owns a third
                bucket.putAll(fresh);
                read(group.node(1), fresh);
                serves.set(hasServed(metrics));
            }
            say("a node that joined under load has served " + seconds(mounted) + " s after it was mounted");
            return null;
        }));
        read(group.node(3), List.of(large));
    }

    /** A command would take longer on a busy machine than the time to be measured. */
    private static boolean hasServed(String metrics) throws IOException {
        try (InputStream in =
                URI.create("http://" + metrics + "/metrics").toURL().openStream()) {
            return new String(in.readAllBytes(), UTF_8)
                    .lines()
                    .filter(line -> line.startsWith("penstock_share_requests_total{") && line.contains("\"out\""))
                    .anyMatch(line -> !line.endsWith(" 0.0"));
        }
    }

    // ---- disks

    @Test
    void anOwnersDiskReturnsWrongBytes_nobodyElseReadsThem_whileItRunsAndLater() throws Exception {
        bucket.put(huge);
        startGroup("--memory", "64MiB"); // less than each node owns of the file
        MountedBucket owner = group.node(2);
        eventually("the owner has stored its part", () -> {
            readAnew(group.node(1), huge);
            return statistic(owner, "diskBytes") > 64 * MIB;
        });

        damage(group.folder(2), 1_000);
        eventually("the owner finds damaged pages", () -> {
            readAnew(group.node(3), huge);
            return statistic(owner, "corruptPages") > 0;
        });
        say("damaged pages found while it runs: " + statistic(owner, "corruptPages"));

        owner.terminate();
        group.node(3).terminate();
        group.ended(2);
        group.ended(3);
        damage(group.folder(2), 2_000);
        Program.shell(group.folder(3), "rm -r cache").orThrow();
        start(2);
        start(3);
        awaitOneGroup();
        eventually("the owner finds damaged pages", () -> {
            readAnew(group.node(3), huge);
            return statistic(group.node(2), "corruptPages") > 0;
        });
        say("damaged pages found after a restart: " + statistic(group.node(2), "corruptPages"));
    }

    /** Reads a file that is not in the node's cache, even if it was read before. */
    private void readAnew(MountedBucket node, TestData file) throws Exception {
        CacheGroup.penstock(node, "evict", file.name()).orThrow();
        read(node, List.of(file));
    }

    private static void awaitStored(MountedBucket node) throws Exception {
        long fetched = statistic(node, "bytesFetched");
        Await.until("all that it fetched is stored", () -> statistic(node, "diskBytes") >= fetched);
    }

    /** Flips a bit of each page in the files of a cache. */
    private static void damage(Path node, int offset) throws IOException {
        try (Stream<Path> files = Files.walk(node.resolve("cache/objects"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                try (FileChannel data = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                    ByteBuffer one = ByteBuffer.allocate(1);
                    for (long at = offset; data.read(one.clear(), at) == 1; at += MIB) {
                        data.write(ByteBuffer.wrap(new byte[] {(byte) (one.get(0) ^ 4)}), at);
                    }
                }
            }
        }
    }

    @Test
    void anOwnersDiskIsFull_allRead() throws Exception {
        Path disk = Files.createDirectories(scratch.resolve("disk"));
        Program.shell(disk, "mount -t tmpfs -o size=24m penstock-test .").orThrow();
        try {
            start(1);
            start(2, "--cache", disk.resolve("cache").toString());
            start(3);
            awaitOneGroup();
            Program.shell(disk, "! dd if=/dev/zero of=filler bs=64k").orThrow();

            allRead(large, second);
            say(group.groups());
            group.close();
        } finally {
            Program.shell(disk, "cd / && umount -l \"$1\"", disk).orThrow();
        }
    }

    // ---- clocks and certificates

    @Test
    void aNodesClockIsWrong_allRead_andItMayHaveBytesOfOthers() throws Exception {
        Program.Result library = Program.shell(scratch, "ls /usr/lib/*/faketime/libfaketimeMT.so.1 | head -1");
        if (library.out().isBlank() || !library.out().startsWith("/")) {
            skip("no faketime: clocks of nodes are right");
        }
        start(1);
        start(2);
        start(
                3,
                Map.of(
                        "LD_PRELOAD",
                        library.out().strip(),
                        "FAKETIME",
                        "+20m",
                        "FAKETIME_DONT_FAKE_MONOTONIC",
                        "1",
                        "FAKETIME_NO_CACHE",
                        "1"));
        awaitOneGroup();

        allRead(large, second);

        assertThat(group.groups()).doesNotContain("forbidden"); // it signs with the store's clock
    }

    @Test
    void mount_withACertificateThatHasExpired_isRefused_andNamesIt() throws Exception {
        group.certificateOfADay("group", "expired", "-10d");
        try (MountedBucket refused = MountedBucket.start(
                network.on(1, Map.of()),
                network.server(),
                bucket.name(),
                group.folder(1),
                CacheGroup.options(addresses(), NodeNetwork.address(1), group.tls("group", "expired")))) {
            assertThat(refused.awaitEnd()).isTrue();
            assertThat(refused.process().exitValue()).isNotZero();
            assertThat(refused.log())
                    .contains("share.tls-certificate: " + scratch.resolve("expired.crt"))
                    .contains("not now; renew it");
        }
    }

    @Test
    void aCertificateExpiresWhileMounted_allRead() throws Exception {
        group.certificateOfADay("group", "brief", "-1d+150S");
        Instant end = Instant.now().plusSeconds(151);
        start(3, group.tls("group", "brief").toArray(String[]::new));
        start(1);
        start(2);
        awaitOneGroup();
        allRead(large);
        Thread.sleep(Duration.between(Instant.now(), end).plusSeconds(1)); // of the clock: until it has expired

        allRead(second);

        say(group.groups());
        network.cut(3, Cut.LINK_DOWN);
        awaitMembers(group.node(2), 2);
        awaitMembers(group.node(3), 1);
        network.heal(3);
        atOnce(List.of(
                () -> read(group.node(1), small), () -> read(group.node(2), small), () -> read(group.node(3), small)));
        awaitMembers(group.node(1), 2);
        assertThat(members(group.node(2))).isEqualTo(2);
        assertThat(members(group.node(3))).isEqualTo(1);
    }

    // ---- all is well

    @Test
    void inStepAndShuffled_eachByteIsFetchedOnce() throws Exception {
        List<TestData> others = files("others", 60);
        bucket.putAll(others);
        bucket.put(huge);
        startGroup();
        network.store().drainObjectGets(bucket.name());
        allRead(others.toArray(TestData[]::new));
        int gets = network.store().drainObjectGets(bucket.name()).size();
        say(gets + " GETs of " + others.size() + " small files");
        group.assertAskedOnce(others, gets);

        allRead(huge);
        List<Callable<Void>> readers = new ArrayList<>();
        for (int number = 1; number <= NODES; number++) {
            List<TestData> shuffled = new ArrayList<>(small);
            shuffled.add(large);
            Collections.shuffle(shuffled, new Random(number));
            MountedBucket node = group.node(number);
            readers.add(() -> read(node, shuffled));
        }
        atOnce(readers);

        List<TestData> all = new ArrayList<>(small);
        all.addAll(others);
        all.addAll(List.of(huge, large));
        say("fetched " + (double) group.sum("bytesFetched") / size(all) + " of each byte\n" + group.groups());
        group.assertFetchedOnce(all);
    }

    @Test
    @Timeout(1_800)
    void aFileLargerThanACache_readInStep_isSentOnce() throws Exception {
        bucket.put(GIANT);
        startGroup("--cache-size", "2GiB");
        CyclicBarrier step = new CyclicBarrier(NODES);
        List<Callable<Void>> readers = new ArrayList<>();
        group.nodes().forEach(node -> readers.add(() -> readInStep(node, GIANT, step)));
        network.store().drainSentBytes();
        long begun = System.nanoTime();
        atOnce(readers);

        long sent = network.store().drainSentBytes();
        say("the store sent " + (double) sent / GIANT.size() + " of each byte of 4 GiB in " + seconds(begun) + " s\n"
                + group.groups());
        group.assertSentOnce(GIANT, sent);
    }
}
