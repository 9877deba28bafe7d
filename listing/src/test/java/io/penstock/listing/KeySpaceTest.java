package io.penstock.listing;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.listing.KeySpace.Rest;
import io.penstock.listing.KeySpace.Split;
import io.penstock.objectstore.KeyOrder;
import io.penstock.testing.KeySets;
import io.penstock.testing.Seeded;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class KeySpaceTest {
    @Test
    void split_anyKeys_isAValidKeyBetweenPositionAndEnd() {
        Seeded.check(500, random -> {
            KeySets set = KeySets.any(random);
            String prefix = random.nextBoolean() ? "" : "data/";
            List<String> keys = new ArrayList<>();
            set.keys(100, random).forEach(key -> keys.add(prefix + key));
            KeySpace space = new KeySpace(prefix.length());
            keys.forEach(space::learn);

            for (int i = 0; i < 20; i++) {
                int to = random.nextInt(keys.size());
                String from = keys.get(random.nextInt(to + 1));
                String end = to + 1 == keys.size() || random.nextBoolean()
                        ? null
                        : keys.get(random.nextInt(to + 1, keys.size()));
                Rest rest = new Rest(from, keys.get(to), end, random.nextBoolean(), List.of());
                Split split = space.split(rest);
                if (split != null) {
                    assertIsWithin(rest, split.key(), prefix);
                }
            }
        });
    }

    @Test
    void split_numbersWithoutEnd_triesScalesBetweenAPageAndAll() {
        KeySpace space = numbers();
        TreeSet<String> tried = new TreeSet<>();
        for (int i = 0; i < 5; i++) {
            Split split = space.split(new Rest("n00000000", "n00000999", null, false, tried));
            assertThat(split).isNotNull();
            tried.add(split.key());
        }
        // Their orders of magnitude, not their values, are evenly distributed.
        assertThat(tried.stream().map(KeySpaceTest::zeros).distinct()).hasSizeGreaterThanOrEqualTo(4);
    }

    @Test
    void split_numbersUpToOthers_isInTheMiddle() {
        Split split = numbers().split(new Rest("n00000000", "n00000999", "n00009", true, List.of()));
        assertThat(split).isNotNull();
        assertThat(split.key()).isBetween("n00004", "n00006");
    }

    @Test
    void split_lessThanAPageLeft_isNowhere() {
        assertThat(numbers().split(new Rest("n00000000", "n00000999", "n000015", true, List.of())))
                .isNull();
    }

    private static KeySpace numbers() {
        KeySpace space = new KeySpace(0);
        for (int i = 0; i < 1_000; i++) {
            space.learn("n%08d".formatted(i));
        }
        return space;
    }

    private static int zeros(String key) {
        return key.length() - 1 - key.substring(1).replaceFirst("^0+", "").length();
    }

    private static void assertIsWithin(Rest rest, String key, String prefix) {
        assertThat(key).startsWith(prefix);
        assertThat(KeyOrder.compare(key, rest.to())).isPositive();
        if (rest.end() != null) {
            assertThat(KeyOrder.compare(key, rest.end())).isNegative();
        }
        assertThat(new String(key.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8))
                .isEqualTo(key);
    }
}
