package io.penstock.share;

import static io.penstock.share.TestNode.await;

import io.penstock.testing.TestTier;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jgroups.protocols.DISCARD;
import org.jgroups.protocols.SHARED_LOOPBACK;
import org.jgroups.protocols.SHARED_LOOPBACK_PING;
import org.jgroups.protocols.TP;
import org.jgroups.stack.ProtocolStack;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Groups of many members in one process, whose messages go through memory. */
@Timeout(300)
class ManyMembersTest {
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
    void members_whoseNumberIsLarge_agreeOnWhoOwnsWhat_andMissOneThatIsSilent(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            join("group-of-" + count);
        }
        await("all know all", () -> agree(members));

        List<Membership> others = new ArrayList<>(members);
        others.remove(count / 2);
        transports
                .get(count / 2)
                .getProtocolStack()
                .insertProtocol(new DISCARD().discardAll(true), ProtocolStack.Position.ABOVE, TP.class);
        await("the others know that one is gone", () -> agree(others));
    }

    /** Whether they and nobody else are members, in the same order: that is all of which owners depend. */
    private static boolean agree(List<Membership> all) {
        List<GroupMember> nodes = all.getFirst().owners().nodes();
        return nodes.size() == all.size()
                && all.stream().allMatch(member -> member.owners().nodes().equals(nodes));
    }
}
