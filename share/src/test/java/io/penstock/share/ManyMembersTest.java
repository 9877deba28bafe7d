package io.penstock.share;

import static io.penstock.share.TestNode.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.testing.TestTier;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.jgroups.protocols.DISCARD;
import org.jgroups.protocols.SHARED_LOOPBACK;
import org.jgroups.protocols.SHARED_LOOPBACK_PING;
import org.jgroups.protocols.TP;
import org.jgroups.stack.ProtocolStack;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Groups of many members in one process, which exchange their messages through memory. */
@Timeout(300)
class ManyMembersTest {
    /** Heap bytes per member: more than three times what ADR 31 measured. */
    private static final long MOST_HEAP = 4L << 20;

    private static final int SLABS = 5_000;
    private static final int FILES = 10;
    private static final int AT_ONCE = 16;

    private final List<Membership> members = new ArrayList<>();
    private final List<TP> transports = new ArrayList<>();

    @AfterEach
    void close() {
        members.reversed().forEach(Membership::close); // the coordinator last
    }

    private static IntStream counts() {
        return TestTier.isAll() ? IntStream.of(50, 100, 200) : IntStream.of(50);
    }

    private void join(String group) throws Exception {
        TP transport = new SHARED_LOOPBACK();
        transport.useVirtualThreads(true);
        transport.getThreadPool().setMinThreads(0);
        GroupMember self = new GroupMember("node-" + members.size(), "10.0.0." + members.size() + ":7420");
        Membership member = new Membership(self, transport, new SHARED_LOOPBACK_PING(), owners -> {});
        members.add(member);
        transports.add(transport);
        member.join(group);
    }

    @ParameterizedTest
    @MethodSource("counts")
    void members_many_agreeOnOwners_andDropASilentOne(int count) throws Exception {
        long before = usedHeap();
        for (int i = 0; i < count; i++) {
            join("group-of-" + count);
        }
        await("all know all", () -> agree(members));
        long each = (usedHeap() - before) / count;
        System.out.println("members: each of " + count + " takes " + each / 1024 + " KiB of heap");
        assertThat(each).isLessThan(MOST_HEAP);
        for (int slab = 0; slab < SLABS; slab++) {
            assertThat(claims(OwnedSlabs.mix(slab))).isEqualTo(1);
        }

        List<Membership> others = new ArrayList<>(members);
        others.remove(count / 2);
        transports
                .get(count / 2)
                .getProtocolStack()
                .insertProtocol(new DISCARD().discardAll(true), ProtocolStack.Position.ABOVE, TP.class);
        await("the others know that one is gone", () -> agree(others));
    }

    private static long usedHeap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** The number of members that would fetch it from the store. */
    private long claims(long slab) {
        return members.stream()
                .map(Membership::owners)
                .filter(owners -> owners.of(slab).equals(owners.self()))
                .count();
    }

    @ParameterizedTest
    @MethodSource("counts")
    void pages_thatAllMembersRead_areLoadedOnce(int count, @TempDir Path folder) throws Exception {
        try (FakeGroup group = new FakeGroup(folder, null);
                ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE)) {
            for (int i = 0; i < count; i++) {
                group.join("node-" + i);
            }
            List<ObjectVersion> files = new ArrayList<>();
            for (int i = 0; i < FILES; i++) {
                files.add(group.bucket.putTestData("file-" + i, 100_000 + i));
            }
            List<Callable<Void>> readers = new ArrayList<>();
            for (FakeGroup.Member member : group.members) {
                readers.add(() -> {
                    for (ObjectVersion file : files) {
                        member.local.readAll(file);
                    }
                    return null;
                });
            }
            for (Future<Void> reader : threads.invokeAll(readers)) {
                reader.get();
            }
            System.out.println("members: " + group.gets() + " GETs of " + FILES + " pages that all of " + count
                    + " read; " + group.late() + " late");
            assertThat((long) group.gets()).isBetween((long) FILES, FILES + group.late());
            assertThat(group.late()).isLessThan((long) count * FILES / 2);
        }
    }

    /** Whether all have the same members, in the same order, and no others: owners depend on nothing else. */
    private static boolean agree(List<Membership> all) {
        List<GroupMember> nodes = all.getFirst().owners().nodes();
        return nodes.size() == all.size()
                && all.stream().allMatch(member -> member.owners().nodes().equals(nodes));
    }
}
