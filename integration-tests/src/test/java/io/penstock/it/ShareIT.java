package io.penstock.it;

import static io.penstock.it.CacheGroup.atOnce;
import static io.penstock.it.CacheGroup.awaitMembers;
import static io.penstock.it.CacheGroup.members;
import static io.penstock.it.CacheGroup.penstock;
import static io.penstock.it.CacheGroup.size;
import static io.penstock.it.CacheGroup.statistic;
import static io.penstock.it.CacheGroup.verify;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.embeddeds3.FreePorts;
import io.penstock.testing.TestData;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Three nodes on loopback addresses, each a mount of the same bucket with its own certificate, share their caches. */
@Timeout(300)
final class ShareIT {
    private static final long MIB = 1 << 20;
    private static final int NODES = 3;

    private static final S3Server SERVER = S3Server.shared();

    @TempDir
    private Path scratch;

    private final List<String> addresses = new ArrayList<>();
    private TestBucket bucket;
    private CacheGroup group;

    private final TestData large = TestData.of("large.bin", 48 * MIB + 12_345);
    private final List<TestData> small = IntStream.range(0, 90)
            .mapToObj(i -> TestData.of("small/%03d.jpg".formatted(i), 20_000 + 997 * i))
            .toList();

    @BeforeEach
    void fillBucket() throws Exception {
        bucket = new TestBucket(SERVER);
        bucket.put(large);
        bucket.putAll(small);
        for (int node = 1; node <= NODES + 1; node++) {
            addresses.add("127.0.0." + node + ":" + FreePorts.first(2, "127.0.0." + node));
        }
        group = new CacheGroup(SERVER, bucket.name(), scratch);
        group.authority("group");
    }

    @AfterEach
    void removeBucket() throws Exception {
        group.close();
        bucket.close();
    }

    private MountedBucket start(int number, String authority, String peers) throws Exception {
        return start(number, MountedBucket.Launch.PLAIN, authority, peers);
    }

    private MountedBucket start(int number, MountedBucket.Launch launch, String authority, String peers)
            throws Exception {
        String name = "node" + number;
        group.certificate(authority, name);
        return group.start(number, launch, peers, addresses.get(number - 1), group.tls(authority, name));
    }

    private void startGroup(String peers) throws Exception {
        for (int number = 1; number <= NODES; number++) {
            start(number, "group", peers);
        }
        for (MountedBucket node : group.nodes()) {
            awaitMembers(node, NODES);
        }
    }

    private String list() {
        return String.join(",", addresses.subList(0, NODES));
    }

    @Tag("long")
    @Test
    void threeNodes_readTheSameInStep_fetchItOnce_andLeaveNothingInTheBucket() throws Exception {
        startGroup("bucket");
        List<TestData> all = new ArrayList<>(small);
        all.add(large);

        atOnce(group.readers(all));

        group.assertFetchedOnce(all);
        assertThat(group.sum("bytesFromPeers")).isGreaterThanOrEqualTo(size(all));
        assertThat(bucket.keys("")).anyMatch(key -> key.startsWith(".penstock/share/"));
        assertThat(Program.shell(group.node(1).path(), "ls -A").orThrow()).doesNotContain(".penstock");
        for (MountedBucket node : group.nodes()) {
            node.terminate();
        }
        assertThat(bucket.keys("")).noneMatch(key -> key.startsWith(".penstock/share/"));
    }

    @Test
    void aMountThatSharesNothing_loadsNothingOfIt() throws Exception {
        try (MountedBucket alone = MountedBucket.mount(SERVER, bucket.name(), scratch)) {
            verify(alone, List.of(small.getFirst()));
            penstock(alone, "stats", "--once", "--json").orThrow();
            assertThat(penstock(alone, "share status").out()).contains("does not share its cache: set share.peers");
            assertThat(penstock(alone, "warm", "small", "--group").out()).contains("set share.peers");

            String jcmd =
                    Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
            String pid = Long.toString(alone.process().pid());
            String classes = Program.run(scratch, List.of(jcmd, pid, "VM.class_hierarchy"))
                    .orThrow();

            assertThat(classes)
                    .contains("io.penstock.serve.mount.BucketMount")
                    .doesNotContain("io.penstock.share", "org.jgroups");
        }
    }

    @Tag("long")
    @Test
    void aNodeKilled_whileOthersRead_costsNoByte() throws Exception {
        startGroup(list());
        MountedBucket victim = group.node(NODES);

        atOnce(List.of(() -> verify(group.node(1), List.of(large)), () -> verify(group.node(2), List.of(large)), () -> {
            Await.until("it serves", () -> statistic(victim, "requestsServed") > 0);
            victim.kill();
            return null;
        }));

        awaitMembers(group.node(1), NODES - 1);
        verify(group.node(1), small);
    }

    @Tag("long")
    @Test
    void aNodeStopped_whileOthersRead_costsNoByte() throws Exception {
        startGroup(list());
        String victim = Long.toString(group.node(NODES).process().pid());
        Program.shell(scratch, "kill -STOP " + victim).orThrow();
        try {
            atOnce(List.of(() -> verify(group.node(1), List.of(large)), () -> verify(group.node(2), List.of(large))));
            awaitMembers(group.node(1), NODES - 1);
        } finally {
            Program.shell(scratch, "kill -CONT " + victim).orThrow();
        }
        awaitMembers(group.node(1), NODES);
        verify(group.node(NODES), small);
    }

    @Tag("long")
    @Test
    void threeNodes_readShuffled_fetchItOnce() throws Exception {
        startGroup(list());
        List<Callable<Void>> readers = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            List<TestData> shuffled = new ArrayList<>(small);
            shuffled.add(large);
            Collections.shuffle(shuffled, new Random(i));
            MountedBucket node = group.node(i + 1);
            readers.add(() -> verify(node, shuffled));
        }

        atOnce(readers);

        List<TestData> all = new ArrayList<>(small);
        all.add(large);
        group.assertFetchedOnce(all);
    }

    @Tag("long")
    @Test
    void aNodeWithACertificateOfAnotherAuthority_getsNothing_andReads() throws Exception {
        startGroup(list());
        group.authority("other");
        MountedBucket stranger = start(NODES + 1, "other", list());

        verify(group.node(1), List.of(large));
        verify(stranger, List.of(large));

        assertThat(statistic(stranger, "bytesFromPeers")).isZero();
        assertThat(statistic(stranger, "bytesFetched")).isGreaterThanOrEqualTo(large.size());
        assertThat(members(group.node(1))).isEqualTo(NODES);
    }

    /** Two nodes of this version, and one with another version in these names. */
    private void startGroupWithAnotherVersion(int version, String... names) throws Exception {
        start(1, "group", list());
        start(2, "group", list());
        Path other = OtherVersion.make(scratch.resolve("other"), version, List.of(names));
        start(NODES, new MountedBucket.Launch(List.of(), Map.of(), other), "group", list());
    }

    private void assertSharesNothing(MountedBucket node, long read) {
        assertThat(statistic(node, "bytesFromPeers")).isZero();
        assertThat(statistic(node, "bytesServed")).isZero();
        assertThat(statistic(node, "bytesFetched")).isGreaterThanOrEqualTo(read);
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void aNodeOfAnotherVersion_isInAGroupOfItsOwn_andAllRead(int version) throws Exception {
        startGroupWithAnotherVersion(version, OtherVersion.GROUP, OtherVersion.BYTES);
        awaitMembers(group.node(1), 2);
        awaitMembers(group.node(2), 2);
        awaitMembers(group.node(NODES), 1);
        List<TestData> all = new ArrayList<>(small);
        all.add(large);

        atOnce(group.readers(all));

        assertThat(members(group.node(1))).isEqualTo(2);
        assertThat(members(group.node(NODES))).isEqualTo(1);
        assertSharesNothing(group.node(NODES), size(all));
        assertThat(group.sum("bytesFromPeers")).isPositive();
        assertThat(group.groups()).doesNotContain("foreign");
    }

    /** In the protocol for bytes alone, so the group accepts the node as a member. */
    @Tag("long")
    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void aMemberOfAnotherVersion_isForeignToTheOthers_andTheyToIt_andAllRead(int version) throws Exception {
        startGroupWithAnotherVersion(version, OtherVersion.BYTES);
        for (MountedBucket node : group.nodes()) {
            awaitMembers(node, NODES);
        }
        List<TestData> all = new ArrayList<>(small);
        all.add(large);

        atOnce(group.readers(all));

        for (MountedBucket node : group.nodes()) {
            assertThat(penstock(node, "share status").orThrow()).contains("foreign");
        }
        assertSharesNothing(group.node(NODES), size(all));
        assertThat(group.sum("bytesFromPeers")).isPositive();
    }

    @Tag("long")
    @Test
    void aNodeAlone_fetchesAsWithoutAGroup() throws Exception {
        start(1, "group", "bucket");
        awaitMembers(group.node(1), 1);

        verify(group.node(1), List.of(large));

        assertThat(statistic(group.node(1), "bytesFetched")).isEqualTo(large.size());
        assertThat(penstock(group.node(1), "share status").orThrow()).contains("fell back:     0 times");
    }

    @Tag("long")
    @Test
    void warmOfTheGroup_thenAllNodesRead_askTheStoreNoMore() throws Exception {
        startGroup(list());

        penstock(group.node(1), "warm", "large.bin", "small", "--group").orThrow();
        assertThat(group.sum("bytesFetched")).isEqualTo(size(small) + large.size());
        atOnce(group.readers(List.of(large)));
        atOnce(group.readers(small));

        assertThat(group.sum("bytesFetched")).isEqualTo(size(small) + large.size());
    }
}
