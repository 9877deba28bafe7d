package io.penstock.fuse.jnr;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HeldLookupsTest {
    private final List<Long> forgotten = new ArrayList<>();
    private final HeldLookups lookups = new HeldLookups(forgotten::add, 2);

    @Test
    void hold_sameInodeAgain_givesTheSurplusBack() {
        lookups.hold(7);
        lookups.hold(7);
        lookups.hold(7);

        assertThat(forgotten).containsExactly(7L, 7L);
    }

    @Test
    void hold_beyondCapacity_givesTheLeastRecentlyUsedBack() {
        lookups.hold(7);
        lookups.hold(8);
        lookups.hold(7);
        forgotten.clear();

        lookups.hold(9);

        assertThat(forgotten).containsExactly(8L);
    }

    @Test
    void releaseAll_afterAnyUse_everyLookupIsGivenBackOnce() {
        List.of(7L, 8L, 7L, 9L, 10L, 7L).forEach(lookups::hold);

        lookups.releaseAll();

        assertThat(forgotten).containsExactlyInAnyOrder(7L, 8L, 7L, 9L, 10L, 7L);
    }
}
