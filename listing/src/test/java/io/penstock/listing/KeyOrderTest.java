package io.penstock.listing;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.objectstore.KeyOrder;
import io.penstock.testing.KeySets;
import io.penstock.testing.Seeded;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class KeyOrderTest {
    @Test
    void compare_anyKeys_isTheOrderOfTheirUtf8() {
        Seeded.check(2_000, random -> {
            String a = KeySets.UNUSUAL.key(0, random);
            String b = random.nextBoolean() ? KeySets.UNUSUAL.key(0, random) : a + KeySets.UNUSUAL.key(0, random);
            int expected =
                    Arrays.compareUnsigned(a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));
            assertThat(Integer.signum(KeyOrder.compare(a, b))).isEqualTo(Integer.signum(expected));
            assertThat(KeyOrder.compare(a, a)).isZero();
        });
    }
}
