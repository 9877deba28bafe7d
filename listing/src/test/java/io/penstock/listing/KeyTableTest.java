package io.penstock.listing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.NativeMemory;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.RandomKeys;
import io.penstock.testing.Seeded;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares a table with the sorted list of the same objects. */
@Timeout(60)
class KeyTableTest {
    private static final String HASH = "0123456789abcdef0123456789abcdef";

    @Test
    void next_toTheEnd_givesAllThatWasAddedInOrder() {
        Seeded.check(300, random -> {
            KeyTables model = model(random, 300);
            try (KeyTable table = model.build()) {
                KeyCursor cursor = table.cursor();
                for (int i = 0; i < model.objects.size(); i++) {
                    assertThat(cursor.next()).isTrue();
                    checkAt(cursor, model, i);
                }
                assertThat(cursor.next()).isFalse();
                assertThat(cursor.next()).isFalse();
                assertThat(cursor.asOfGap()).isEqualTo(model.asOfGap(model.objects.size()));
                assertThat(table.size()).isEqualTo(model.objects.size());
            }
        });
    }

    @Test
    void moves_inAnyOrder_endWhereTheSortedListHasThem() {
        Seeded.check(300, random -> {
            KeyTables model = model(random, 300);
            List<String> keys =
                    model.objects.stream().map(object -> object.version().key()).toList();
            try (KeyTable table = model.build()) {
                KeyCursor cursor = table.cursor();
                int at = -1;
                for (int i = 0; i < 200; i++) {
                    String text = RandomKeys.near(random, keys);
                    int move = random.nextInt(5);
                    boolean moved = switch (move) {
                        case 0 -> cursor.seek(text);
                        case 1 -> cursor.advance(text);
                        case 2, 3 -> cursor.skip(text);
                        default -> cursor.next();
                    };
                    at = switch (move) {
                        case 0 -> model.ceiling(text);
                        case 1 -> Math.max(Math.max(at, 0), model.ceiling(text));
                        case 2, 3 -> skip(keys, Math.max(at, 0), text);
                        default -> Math.min(at + 1, keys.size());
                    };
                    assertThat(moved).isEqualTo(at < keys.size());
                    checkAt(cursor, model, at);
                }
            }
        });
    }

    private static int skip(List<String> keys, int from, String prefix) {
        int at = from;
        while (at < keys.size() && keys.get(at).startsWith(prefix)) {
            at++;
        }
        return at;
    }

    private static KeyTables model(RandomGenerator random, int most) {
        List<StoredObject> objects = RandomKeys.set(random, most).stream()
                .map(key -> KeyTables.object(random, key))
                .toList();
        return new KeyTables(random, objects);
    }

    private static void checkAt(KeyCursor cursor, KeyTables model, int at) {
        assertThat(cursor.isAtKey()).isEqualTo(at < model.objects.size());
        assertThat(cursor.asOfGap()).isEqualTo(model.asOfGap(at));
        if (at < model.objects.size()) {
            String key = model.key(at);
            assertThat(cursor.key()).isEqualTo(key);
            assertThat(cursor.is(key)).isTrue();
            assertThat(cursor.startsWith(key)).isTrue();
            assertThat(cursor.startsWith(key + "x")).isFalse();
            assertThat(cursor.object()).isEqualTo(model.objects.get(at));
            assertThat(cursor.asOf()).isEqualTo(model.asOf(at));
        } else {
            assertThatThrownBy(cursor::key).isInstanceOf(IllegalStateException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"" + HASH + "\"",
                "\"" + HASH + "-1\"",
                "\"" + HASH + "-10000\"",
                "\"" + HASH + "-999999999\"",
                "\"" + HASH + "-9999999999\"",
                "\"" + HASH + "-0\"",
                "\"" + HASH + "-00\"",
                "\"" + HASH + "-01\"",
                "\"" + HASH + "-\"",
                "\"" + HASH + "--1\"",
                "\"" + HASH + "-+1\"",
                "\"" + HASH + "-1x\"",
                "\"" + HASH + "-1",
                "\"" + HASH,
                HASH,
                "'" + HASH + "'",
                "\"0123456789ABCDEF0123456789ABCDEF\"",
                "\"0123456789abcdef0123456789abcdeg\"",
                "\"\"",
                "\"",
                "W/\"" + HASH + "\"",
                "\"gateway\"",
                "\"é😀\""
            })
    void object_withAnyEtag_hasItToTheLetter(String etag) {
        StoredObject object = new StoredObject(new ObjectVersion("a", etag, 1, Instant.EPOCH), "STANDARD");

        assertThat(readBack(object)).isEqualTo(object);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 999, 1000, -1, -1000, 1_700_000_000_123L, Long.MAX_VALUE, Long.MIN_VALUE})
    void object_ofAnyTime_hasItInMilliseconds(long millis) {
        Instant time = Instant.ofEpochMilli(millis);
        StoredObject early = new StoredObject(new ObjectVersion("a", "e", 0, Instant.ofEpochMilli(-5)), "STANDARD");
        StoredObject object = new StoredObject(new ObjectVersion("b", "e", Long.MAX_VALUE, time), "STANDARD");

        assertThat(readBack(object)).isEqualTo(object);
        assertThat(readBack(early, object)).isEqualTo(object);
    }

    private static StoredObject readBack(StoredObject... objects) {
        try (KeyTable table = table(objects)) {
            KeyCursor cursor = table.cursor();
            cursor.seek(objects[objects.length - 1].version().key());
            return cursor.object();
        }
    }

    private static KeyTable table(StoredObject... objects) {
        KeyTableBuilder builder = new KeyTableBuilder();
        builder.page(0);
        for (StoredObject object : objects) {
            builder.add(object);
        }
        return KeyTable.join(List.of(builder));
    }

    @Test
    void seek_halfASurrogatePair_findsNothingAndLosesNothing() {
        try (KeyTable table = table(object("a"), object("😀"))) {
            KeyCursor cursor = table.cursor();

            assertThat(cursor.seek("\ud83d")).isTrue();
            assertThat(cursor.key()).isEqualTo("😀");
            assertThat(cursor.is("\ud83d")).isFalse();
        }
    }

    @Test
    void emptyTable_hasNoKeysAndATime() {
        KeyTableBuilder builder = new KeyTableBuilder();
        builder.page(7);
        try (KeyTable table = KeyTable.join(List.of(builder))) {
            KeyCursor cursor = table.cursor();

            assertThat(cursor.seek("")).isFalse();
            assertThat(cursor.skip("")).isFalse();
            assertThat(cursor.next()).isFalse();
            assertThat(cursor.asOfGap()).isEqualTo(7);
            assertThat(table.size()).isZero();
        }
    }

    @Test
    void join_ofNoPage_throws() {
        assertThatThrownBy(() -> KeyTable.join(List.of(new KeyTableBuilder())))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"b", "a", "ab", "B", "\uffff"})
    void add_notBehindTheLast_throwsAndNamesBoth(String key) {
        String last = key.equals("\uffff") ? "😀" : "b";
        try (KeyTableBuilder builder = new KeyTableBuilder()) {
            builder.page(0);
            builder.add(object(last));

            assertThatThrownBy(() -> builder.add(object(key)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("'" + last + "'")
                    .hasMessageContaining("'" + key + "'");
            builder.add(object(last + "c"));
            try (KeyTable table = KeyTable.join(List.of(builder))) {
                assertThat(keys(table)).containsExactly(last, last + "c");
            }
        }
    }

    @Test
    void add_ofWhatNoStoreHas_throwsAndAddsNothing() {
        try (KeyTableBuilder builder = new KeyTableBuilder()) {
            assertThatThrownBy(() -> builder.add(object("a"))).isInstanceOf(IllegalStateException.class);
            builder.page(0);
            StoredObject longEtag = new StoredObject(
                    new ObjectVersion("a", "e".repeat(EntryCode.MAX_ETAG + 1), 0, Instant.EPOCH), "STANDARD");

            assertThatThrownBy(() -> builder.add(longEtag)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> builder.add(object("a".repeat(KeyTableBuilder.MAX_KEY + 1))))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> builder.add(object("a\ud83db"))).isInstanceOf(IllegalArgumentException.class);
            assertThat(builder.size()).isZero();
        }
    }

    @Test
    void join_keysNotInOrder_throwsAndLeavesThemToBeJoinedOtherwise() {
        KeyTableBuilder first = builder("a", "c");
        KeyTableBuilder second = builder("b", "d");
        KeyTableBuilder third = builder("e");

        assertThatThrownBy(() -> KeyTable.join(List.of(first, second)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'c'")
                .hasMessageContaining("'b'");
        assertThatThrownBy(() -> KeyTable.join(List.of(third, builder(), first)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> KeyTable.join(List.of(first, first))).isInstanceOf(IllegalArgumentException.class);
        second.close();
        try (KeyTable table = KeyTable.join(List.of(first, third))) {
            assertThat(keys(table)).containsExactly("a", "c", "e");
        }
    }

    @Test
    void builder_joinedOrClosed_takesNothingMore() {
        KeyTableBuilder joined = builder("a");
        KeyTableBuilder closed = builder("b");
        try (KeyTable table = KeyTable.join(List.of(joined))) {
            joined.close(); // frees no memory of the table
            closed.close();
            closed.close();

            assertThatThrownBy(() -> joined.add(object("c"))).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> closed.add(object("c"))).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> KeyTable.join(List.of(joined))).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> KeyTable.join(List.of(closed))).isInstanceOf(IllegalStateException.class);
            assertThat(keys(table)).containsExactly("a");
        }
    }

    @Test
    void table_countsAsMemoryOfNamesUntilItIsClosed() {
        long before = NativeMemory.used(NativeMemory.Share.NAMES);
        try (KeyTable table = table(object("a"), object("b"))) {
            assertThat(table.size()).isEqualTo(2);
            assertThat(NativeMemory.used(NativeMemory.Share.NAMES)).isGreaterThan(before);
        }
        assertThat(NativeMemory.used(NativeMemory.Share.NAMES)).isEqualTo(before);
    }

    @Test
    void close_whileReadersRead_endsThemCleanly() throws Exception {
        KeyTableBuilder builder = new KeyTableBuilder();
        builder.page(0);
        for (int i = 0; i < 20_000; i++) {
            builder.add(object("k%06d".formatted(i)));
        }
        KeyTable table = KeyTable.join(List.of(builder));
        KeyCursor standing = table.cursor();
        standing.seek("k000100");
        List<Thread> readers = new ArrayList<>();
        List<Throwable> ends = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch reading = new CountDownLatch(3);
        for (int i = 0; i < 3; i++) {
            Thread reader = Thread.ofPlatform().unstarted(() -> {
                while (true) {
                    KeyCursor cursor = table.cursor();
                    cursor.seek("k010000");
                    reading.countDown();
                    while (cursor.next()) {
                        cursor.asOf();
                    }
                }
            });
            reader.setUncaughtExceptionHandler((_, e) -> ends.add(e));
            readers.add(reader);
            reader.start();
        }
        reading.await();

        table.close();
        table.close();

        for (Thread reader : readers) {
            reader.join();
        }
        assertThat(ends).hasSize(3).allMatch(e -> e instanceof IllegalStateException);
        assertThat(standing.key()).isEqualTo("k000100");
        assertThatThrownBy(() -> standing.seek("k000000")).isInstanceOf(IllegalStateException.class);
    }

    private static KeyTableBuilder builder(String... keys) {
        KeyTableBuilder builder = new KeyTableBuilder();
        builder.page(0);
        for (String key : keys) {
            builder.add(object(key));
        }
        return builder;
    }

    private static StoredObject object(String key) {
        return new StoredObject(new ObjectVersion(key, "\"" + HASH + "\"", 1, Instant.EPOCH), "STANDARD");
    }

    private static List<String> keys(KeyTable table) {
        List<String> keys = new ArrayList<>();
        for (KeyCursor cursor = table.cursor(); cursor.next(); ) {
            keys.add(cursor.key());
        }
        return keys;
    }
}
