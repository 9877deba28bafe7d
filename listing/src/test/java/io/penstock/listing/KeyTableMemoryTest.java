package io.penstock.listing;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.Seeded;
import io.penstock.testing.UsedHeap;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The cost of an object: at most 64 bytes of memory in total, including its key of 40 to 60 characters. */
@Timeout(60)
class KeyTableMemoryTest {
    private static final HexFormat HEX = HexFormat.of();

    /** Each range has its builder and a page for each thousand objects, more than in practice. */
    private static final int RANGES = 20;

    private final RandomGenerator random = Seeded.random(1);

    @Test
    void table_ofNumberedNames_takesAtMost40BytesEach() {
        List<String> folders = LongStream.range(0, 200)
                .mapToObj(i -> "datasets/imagenet/train/imgs/" + digits(i, 5) + "/")
                .toList();

        check(folders, 1_000, i -> digits(i, 9) + ".jpg", 40);
    }

    @Test
    void table_ofHashedNames_takesAtMost64BytesEach() {
        List<String> folders = LongStream.range(0, 200)
                .mapToObj(i -> "laion/images/" + digits(i, 3) + "/")
                .toList();
        // Ascending, like sorted random hashes.
        check(folders, 1_000, i -> HEX.toHexDigits(i << 54 | random.nextLong() >>> 10) + hex(random, 8) + ".webp", 64);
    }

    private interface Naming {
        String name(long index);
    }

    private void check(List<String> folders, int files, Naming naming, int most) {
        build(folders.subList(0, RANGES), files, naming).close(); // loads the classes
        long before = UsedHeap.bytes();

        try (KeyTable table = build(folders, files, naming)) {
            long heap = UsedHeap.bytes() - before;
            long objects = (long) folders.size() * files;
            assertThat(table.size()).isEqualTo(objects);
            // The table's count includes its known heap, which is counted twice here: that errs on the safe side.
            assertThat((double) (table.bytes() + heap) / objects).isBetween(20.0, (double) most);
            assertThat((double) heap / objects).isLessThan(2);
        }
    }

    private KeyTable build(List<String> folders, int files, Naming naming) {
        List<KeyTableBuilder> builders = new ArrayList<>();
        KeyTableBuilder builder = new KeyTableBuilder();
        for (int i = 0; i < folders.size(); i++) {
            if (i % (folders.size() / RANGES) == 0) {
                builder = new KeyTableBuilder();
                builders.add(builder);
            }
            builder.page(i);
            for (int j = 0; j < files; j++) {
                String key = folders.get(i) + naming.name(j);
                assertThat(key.length()).isBetween(40, 60);
                builder.add(object(key));
            }
        }
        assertThat(files).isEqualTo(ListRequest.MAX_KEYS);
        return KeyTable.join(builders);
    }

    private StoredObject object(String key) {
        Instant time = Instant.ofEpochSecond(1_700_000_000 + random.nextInt(30_000_000));
        return new StoredObject(
                new ObjectVersion(key, '"' + hex(random, 16) + '"', 50_000 + random.nextInt(200_000), time),
                "STANDARD");
    }

    private static String hex(RandomGenerator random, int bytes) {
        byte[] hash = new byte[bytes];
        random.nextBytes(hash);
        return HEX.formatHex(hash);
    }

    private static String digits(long number, int count) {
        String digits = Long.toString(number);
        return "0".repeat(count - digits.length()) + digits;
    }
}
