package io.penstock.listing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.RandomKeys;
import io.penstock.testing.Seeded;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares a table of objects added in any order with a sorted map of them. */
@Timeout(60)
class KeyTableSorterTest {
    private static final long AS_OF = 7;

    @Test
    void finish_anyOrderAndAnyRuns_hasOfEachKeyTheLatest() {
        Seeded.check(500, random -> {
            List<StoredObject> objects = objects(random);
            NavigableMap<String, StoredObject> model = new TreeMap<>(RandomKeys.ORDER);
            try (KeyTableSorter sorter = new KeyTableSorter(AS_OF, random.nextInt(1, 40))) {
                for (StoredObject object : objects) {
                    sorter.add(object);
                    model.merge(object.version().key(), object, KeyTableSorterTest::later);
                }
                try (KeyTable table = sorter.finish()) {
                    assertThat(objects(table)).containsExactlyElementsOf(model.values());
                    assertThat(table.size()).isEqualTo(model.size());
                }
            }
        });
    }

    /** Ordered, unordered, or in pieces that may overlap; some keys more than once. */
    private static List<StoredObject> objects(RandomGenerator random) {
        List<StoredObject> objects = new ArrayList<>();
        for (String key : RandomKeys.set(random, 300)) {
            objects.add(KeyTables.object(random, key));
        }
        int kind = random.nextInt(4);
        if (kind == 0) {
            Collections.shuffle(objects, Random.from(random));
        } else if (kind == 1) {
            Collections.rotate(objects, random.nextInt(300));
        }
        if (random.nextBoolean()) {
            for (int i = random.nextInt(30); i > 0 && !objects.isEmpty(); i--) {
                StoredObject again = objects.get(random.nextInt(objects.size()));
                StoredObject other = KeyTables.object(random, again.version().key());
                Instant time = again.version().lastModified();
                objects.add(
                        random.nextInt(objects.size() + 1),
                        random.nextBoolean() ? other : modified(other, time.plusMillis(random.nextInt(-1, 2))));
            }
        }
        return objects;
    }

    private static StoredObject modified(StoredObject object, Instant time) {
        ObjectVersion version = object.version();
        return new StoredObject(
                new ObjectVersion(version.key(), version.etag(), version.size(), time), object.storageClass());
    }

    private static StoredObject later(StoredObject former, StoredObject next) {
        return next.version().lastModified().isBefore(former.version().lastModified()) ? former : next;
    }

    @Test
    void finish_ofNothing_isAnEmptyTableWithATime() throws Exception {
        try (KeyTableSorter sorter = new KeyTableSorter(AS_OF);
                KeyTable table = sorter.finish()) {
            KeyCursor cursor = table.cursor();
            assertThat(cursor.next()).isFalse();
            assertThat(cursor.asOfGap()).isEqualTo(AS_OF);
        }
    }

    @Test
    void everyObject_whateverWasMerged_isAsOfTheOneTime() throws Exception {
        try (KeyTableSorter sorter = new KeyTableSorter(AS_OF, 2)) {
            for (String key : List.of("c", "a", "b", "d", "x", "y")) {
                sorter.add(object(key));
            }
            try (KeyTable table = sorter.finish()) {
                KeyCursor cursor = table.cursor();
                while (cursor.next()) {
                    assertThat(cursor.asOf()).isEqualTo(AS_OF);
                    assertThat(cursor.asOfGap()).isEqualTo(AS_OF);
                }
                assertThat(cursor.asOfGap()).isEqualTo(AS_OF);
            }
        }
    }

    /** Sorted input costs its memory once: nothing is encoded again. */
    @Test
    void finish_runsBehindEachOther_areJoinedAsTheyAre() throws Exception {
        try (KeyTableSorter sorter = new KeyTableSorter(AS_OF, 10)) {
            for (int i = 0; i < 30; i++) {
                sorter.add(object("%03d".formatted((i + 20) % 30)));
            }
            try (KeyTable table = sorter.finish()) {
                assertThat(objects(table)).hasSize(30);
                assertThat(table.chunkCount()).as("one of each run").isEqualTo(3);
            }
        }
    }

    @Test
    @SuppressWarnings("Interruption")
    void addAndFinish_interrupted_throw() throws Exception {
        try (KeyTableSorter sorter = new KeyTableSorter(AS_OF, 1)) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> sorter.add(object("a"))).isInstanceOf(InterruptedException.class);
            sorter.add(object("b"));
            sorter.add(object("a"));
            Thread.currentThread().interrupt();
            assertThatThrownBy(sorter::finish).isInstanceOf(InterruptedException.class);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 100})
    void add_keyThatIsNotUnicode_throwsOnceItsRunEnds(int runSize) throws Exception {
        try (KeyTableSorter sorter = new KeyTableSorter(AS_OF, runSize)) {
            assertThatThrownBy(() -> {
                        sorter.add(object("half \ud83d pair"));
                        sorter.finish();
                    })
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void sorter_finishedOrClosed_takesNothingMoreAndLeavesTheTable() throws Exception {
        KeyTableSorter sorter = new KeyTableSorter(AS_OF, 2);
        for (String key : List.of("c", "a", "b", "d", "x", "y")) {
            sorter.add(object(key));
        }
        try (KeyTable table = sorter.finish()) {
            sorter.close();
            sorter.close();
            assertThat(objects(table)).hasSize(6);
            assertThatThrownBy(() -> sorter.add(object("e"))).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(sorter::finish).isInstanceOf(IllegalStateException.class);
        }
    }

    private static StoredObject object(String key) {
        return new StoredObject(new ObjectVersion(key, "\"etag\"", 1, Instant.EPOCH), "STANDARD");
    }

    private static List<StoredObject> objects(KeyTable table) {
        List<StoredObject> objects = new ArrayList<>();
        for (KeyCursor cursor = table.cursor(); cursor.next(); ) {
            objects.add(cursor.object());
        }
        return objects;
    }
}
