package io.penstock.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.penstock.core.ObjectVersion;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OwnersTest {
    private static final int OBJECTS = 20_000;

    private static List<GroupMember> nodes(int count) {
        Random random = new Random(count);
        List<GroupMember> nodes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            nodes.add(new GroupMember(
                    new UUID(random.nextLong(), random.nextLong()).toString(), "10.0.0." + i + ":7800"));
        }
        return nodes;
    }

    private static Owners owners(List<GroupMember> nodes) {
        return new Owners(nodes.getFirst(), nodes);
    }

    private static long slab(int i) {
        ObjectVersion version = new ObjectVersion("train/part-" + i / 4, "\"tag\"", 64 << 20, Instant.EPOCH);
        return OwnedSlabs.of(version, i % 4 * OwnedSlabs.SIZE + 17);
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 50, 200})
    void of_manySlabs_isBalanced(int count) {
        List<GroupMember> nodes = nodes(count);
        Owners owners = owners(nodes);
        int[] owned = new int[count];
        for (int i = 0; i < OBJECTS; i++) {
            owned[nodes.indexOf(owners.of(slab(i)))]++;
        }
        double mean = (double) OBJECTS / count;
        double spread = 5 / Math.sqrt(mean); // five standard deviations of a fair draw
        assertThat(Arrays.stream(owned).min().orElseThrow() / mean).isGreaterThan(1 - spread);
        assertThat(Arrays.stream(owned).max().orElseThrow() / mean).isLessThan(1 + spread);
        assertThat(Arrays.stream(owners.shares()).sum()).isCloseTo(1, within(1e-6));
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 50, 200})
    void of_oneNodeFewer_movesItsSlabsAlone(int count) {
        List<GroupMember> nodes = nodes(count);
        List<GroupMember> left = new ArrayList<>(nodes);
        GroupMember gone = left.remove(count / 2);
        int moved = 0;
        for (int i = 0; i < OBJECTS; i++) {
            GroupMember before = owners(nodes).of(slab(i));
            GroupMember after = owners(left).of(slab(i));
            if (!before.equals(after)) {
                assertThat(before).isEqualTo(gone);
                moved++;
            }
        }
        double mean = (double) OBJECTS / count;
        assertThat(moved).isBetween(1, (int) (mean + 5 * Math.sqrt(mean)));
    }

    @Test
    void of_isTheSameOnAllNodes_andAfterARestartElsewhere() {
        List<GroupMember> nodes = nodes(10);
        List<GroupMember> others = new ArrayList<>(nodes);
        Collections.shuffle(others, new Random(1));
        others.replaceAll(node -> new GroupMember(node.id(), "192.168.0.1:1"));
        for (int i = 0; i < 1_000; i++) {
            assertThat(owners(others).of(slab(i)).id())
                    .isEqualTo(owners(nodes).of(slab(i)).id());
        }
    }

    @Test
    void of_whereNobodyElseIs_isTheNodeItself() {
        GroupMember self = new GroupMember("self", "10.0.0.1:7800");
        assertThat(Owners.alone(self).of(slab(1))).isSameAs(self);
        assertThat(new Owners(self, List.of()).of(slab(1))).isSameAs(self);
    }
}
