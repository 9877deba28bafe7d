package io.penstock.writeback.content;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testing.Bodies;
import io.penstock.testing.Seeded;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

final class Crc32cJoinTest {
    @Test
    void join_anyCut_isTheChecksumOfTheWhole() {
        Seeded.check(200, random -> {
            byte[] whole = new byte[random.nextInt(1, 100_000)];
            random.nextBytes(whole);
            int cut = random.nextInt(whole.length + 1);
            int first = Bodies.crc32c(Arrays.copyOf(whole, cut));
            int second = Bodies.crc32c(Arrays.copyOfRange(whole, cut, whole.length));
            assertThat(Crc32cJoin.join(first, second, whole.length - cut)).isEqualTo(Bodies.crc32c(whole));
        });
    }

    @Test
    void join_nothing_isNeutral() {
        assertThat(Crc32cJoin.join(0x12345678, 0, 0)).isEqualTo(0x12345678);
        assertThat(Crc32cJoin.join(0, 0x12345678, 1 << 20)).isEqualTo(0x12345678);
    }

    @Test
    void join_pagesOfMoreThan4GiB_isWhatTheyHaveOneByOne() {
        byte[] page = new byte[1 << 20];
        Arrays.fill(page, (byte) 7);
        CRC32C whole = new CRC32C();
        int joined = 0;
        for (int i = 0; i < 64; i++) {
            whole.update(page);
            joined = Crc32cJoin.join(joined, Bodies.crc32c(page), page.length);
        }
        assertThat(joined).isEqualTo((int) whole.getValue());
        // Doubles six more times: 4 GiB by two different routes.
        int doubled = joined;
        int added = joined;
        for (int i = 1; i < 64; i++) {
            added = Crc32cJoin.join(added, joined, 64L << 20);
        }
        for (long length = 64L << 20; length < 4L << 30; length *= 2) {
            doubled = Crc32cJoin.join(doubled, doubled, length);
        }
        assertThat(doubled).isEqualTo(added);
    }
}
