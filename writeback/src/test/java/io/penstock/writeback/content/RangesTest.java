package io.penstock.writeback.content;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ByteRange;
import io.penstock.testing.Seeded;
import java.util.BitSet;
import org.junit.jupiter.api.Test;

/** Sets of bytes, compared with one bit per byte. */
final class RangesTest {
    private static final int SPACE = 60;

    @Test
    void ranges_afterRandomSteps_areAsBits() {
        Seeded.check(300, random -> {
            Ranges ranges = new Ranges();
            BitSet bits = new BitSet();
            for (int step = 0; step < 60; step++) {
                int from = random.nextInt(SPACE);
                int to = random.nextInt(from, SPACE + 1);
                if (random.nextInt(3) > 0) {
                    ranges.add(from, to);
                    bits.set(from, to);
                } else {
                    ranges.remove(from, to);
                    bits.clear(from, to);
                }
                assertSame(ranges, bits);
                Ranges other = new Ranges();
                other.add(to / 2, to);
                BitSet common = new BitSet();
                common.set(to / 2, to);
                common.and(bits);
                assertSame(ranges.and(other), common);
                assertSame(ranges.copy(), bits);
            }
        });
    }

    private static void assertSame(Ranges ranges, BitSet bits) {
        assertThat(ranges.length()).isEqualTo(bits.cardinality());
        assertThat(ranges.isEmpty()).isEqualTo(bits.isEmpty());
        for (int at = 0; at < SPACE; at++) {
            int in = bits.nextSetBit(at);
            assertThat(ranges.nextIn(at)).isEqualTo(in < 0 ? Ranges.NONE : in);
            assertThat(ranges.nextOut(at)).isEqualTo(bits.nextClearBit(at));
            assertThat(ranges.covers(at, at + 5)).isEqualTo(bits.nextClearBit(at) >= at + 5);
        }
        long end = -1;
        for (ByteRange run : ranges.toList()) {
            assertThat(run.offset()).as("runs that touch are one").isGreaterThan(end);
            end = run.end();
        }
    }

    @Test
    void remove_toTheEndOfAllOffsets_cuts() {
        Ranges ranges = new Ranges();
        ranges.add(5, 10);
        ranges.add(1L << 50, 1L << 51);
        ranges.remove(7, Long.MAX_VALUE);
        assertThat(ranges.toList()).containsExactly(new ByteRange(5, 2));
    }
}
