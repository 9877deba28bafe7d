package io.penstock.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class EvictionPolicyTest {
    /** The clock of a mount that has been busy for days. */
    private static final long USES = 1L << 32;

    private static final int IN_MAIN = 24;

    /** One more extent is the window. */
    private static final long LIMIT = (IN_MAIN + 1L) * PageGeometry.PAGE_SIZE;

    private final EvictionPolicy policy = new EvictionPolicy(new PackTable(), USES);

    private Extent added() {
        Extent extent =
                new Extent(new ObjectExtents(ObjectId.random(), PageGeometry.PAGE_SIZE, PageGeometry.PAGES, 1), 0, 1);
        extent.setFound(0, 0);
        policy.add(extent, LIMIT);
        return extent;
    }

    @Test
    void add_besideExtentsInUse_isInTheWindow() {
        var _ = Stream.generate(this::added).limit(IN_MAIN).toList();
        assertThat(added().isInMain()).isFalse();
    }

    @Test
    void add_besideOneThatWasNotUsedFor32BitsOfUses_takesItsPlace() {
        Extent idle = added();
        var _ = Stream.generate(this::added).limit(IN_MAIN - 1).toList();
        idle.setUses(1, 0, 0);
        idle.setLookedAt();
        assertThat(added().isInMain()).isTrue();
    }
}
