package io.penstock.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.listing.KeyCursor;
import io.penstock.listing.KeyTable;
import io.penstock.listing.KeyTableBuilder;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.Content;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import io.penstock.testing.RandomKeys;
import io.penstock.testing.Seeded;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lookups and listings from a table, compared with the store that the table lists. */
@Timeout(120)
class FlatTreeTest {
    private static final String AFTER_ALL = Character.toString(Character.MAX_CODE_POINT);

    /**
     * A store, and a table of the same objects.
     *
     * @param pageTimes when the table's pages were requested
     */
    private record Bucket(InMemoryObjectStore store, List<String> keys, KeyTable table, List<Long> pageTimes)
            implements AutoCloseable {
        static Bucket of(RandomGenerator random, Iterable<String> keys) throws Exception {
            InMemoryObjectStore store =
                    new InMemoryObjectStore("bucket", new ManualClock(), InMemoryObjectStore.Order.UTF8);
            List<String> inOrder = new ArrayList<>();
            List<Long> pageTimes = new ArrayList<>();
            KeyTableBuilder builder = new KeyTableBuilder();
            for (String key : keys) {
                store.put(key, Content.of(new byte[random.nextInt(9)]), random.nextBoolean() ? "STANDARD" : "GLACIER");
                addPages(random, pageTimes, builder);
                builder.add(store.head(key));
                inOrder.add(key);
            }
            addPages(random, pageTimes, builder);
            return new Bucket(store, inOrder, KeyTable.join(List.of(builder)), pageTimes);
        }

        private static void addPages(RandomGenerator random, List<Long> pageTimes, KeyTableBuilder builder) {
            while (pageTimes.isEmpty() || random.nextInt(5) == 0) {
                pageTimes.add(Long.MAX_VALUE + random.nextInt(-1000, 1000)); // nano clocks may overflow
                builder.page(pageTimes.getLast());
            }
        }

        /** At the key, or the next one. */
        KeyCursor seek(String key) {
            KeyCursor cursor = table.cursor();
            cursor.seek(key);
            return cursor;
        }

        @Override
        public void close() {
            table.close();
        }
    }

    @Test
    void list_ofRandomKeys_isWhatTheStoreLists() {
        Seeded.check(100, random -> {
            try (Bucket bucket = Bucket.of(random, RandomKeys.set(random, random.nextInt(5) == 0 ? 400 : 40))) {
                for (int i = 0; i < 30; i++) {
                    checkPages(bucket, request(random, bucket.keys));
                }
            }
        });
    }

    @Test
    void list_byPagesOfEverySize_isWhatTheStoreLists() {
        Seeded.check(10, random -> {
            try (Bucket bucket = Bucket.of(random, RandomKeys.set(random, 60))) {
                String folder = RandomKeys.folder(random, bucket.keys);
                for (int maxKeys = 1; maxKeys <= bucket.keys.size() + 1; maxKeys++) {
                    checkPages(bucket, new ListRequest(folder, "/", null, null, maxKeys));
                    checkPages(bucket, new ListRequest("", "/", null, null, maxKeys));
                    checkPages(bucket, new ListRequest(folder, "", null, null, maxKeys));
                }
            }
        });
    }

    private static ListRequest request(RandomGenerator random, List<String> keys) {
        String prefix = random.nextBoolean() ? RandomKeys.folder(random, keys) : RandomKeys.near(random, keys);
        String delimiter = random.nextInt(3) == 0 ? "" : "/";
        String startAfter = random.nextBoolean() ? null : RandomKeys.near(random, keys);
        return new ListRequest(prefix, delimiter, startAfter, null, random.nextInt(1, 20));
    }

    private static void checkPages(Bucket bucket, ListRequest first) throws Exception {
        FlatTree tree = new FlatTree(bucket.table);
        ListRequest asked = first;
        ListRequest oracle = first;
        while (true) {
            FlatTree.DatedPage dated = tree.list(asked);
            ListPage page = dated.page();
            ListPage expected = bucket.store.list(oracle);
            assertThat(page.objects()).as("%s", asked).isEqualTo(expected.objects());
            assertThat(page.commonPrefixes()).as("%s", asked).isEqualTo(expected.commonPrefixes());
            checkAsOf(bucket, dated, asked);
            if (page.nextToken() == null || expected.nextToken() == null) {
                assertThat(page.nextToken()).as("%s", asked).isEqualTo(expected.nextToken());
                return;
            }
            asked = asked.next(page.nextToken());
            oracle = oracle.next(expected.nextToken());
        }
    }

    /** No page is newer than its entries, or than the absence of further entries at its end. */
    private static void checkAsOf(Bucket bucket, FlatTree.DatedPage dated, ListRequest asked) {
        assertThat(bucket.pageTimes).contains(dated.asOf());
        for (StoredObject object : dated.page().objects()) {
            assertThat(dated.asOf() - bucket.seek(object.version().key()).asOf())
                    .isLessThanOrEqualTo(0);
        }
        for (String prefix : dated.page().commonPrefixes()) {
            assertThat(dated.asOf() - bucket.seek(prefix).asOf()).isLessThanOrEqualTo(0);
        }
        if (dated.page().nextToken() == null && asked.prefix().isEmpty() && asked.startAfter() == null) {
            assertThat(dated.asOf() - bucket.seek(AFTER_ALL).asOfGap()).isLessThanOrEqualTo(0);
        }
    }

    @Test
    void lookup_ofAnyName_isWhatAProbeOfTheStoreSays() {
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            Seeded.check(100, random -> {
                try (Bucket bucket = Bucket.of(random, RandomKeys.set(random, 100))) {
                    NameProbe probe = new NameProbe(bucket.store, new HiddenKeys("bucket"), executor);
                    FlatTree tree = new FlatTree(bucket.table);
                    for (int i = 0; i < 50; i++) {
                        Directory parent = new Directory(RandomKeys.folder(random, bucket.keys));
                        String name = name(random, parent, bucket.keys);

                        LookupCache.Dated answer = tree.lookup(parent, name);

                        assertThat(answer.answer()).as("'%s'", name).isEqualTo(probe.ask(parent, name));
                        assertThat(answer.asOf())
                                .as("'%s'", name)
                                .isEqualTo(asOf(bucket, answer.answer(), parent.key(name)));
                    }
                }
            });
        }
    }

    private static String name(RandomGenerator random, Directory parent, List<String> keys) {
        List<String> names = keys.stream()
                .filter(key -> key.startsWith(parent.prefix()) && !key.equals(parent.prefix()))
                .map(key -> key.substring(parent.prefix().length()))
                .toList();
        String name = RandomKeys.near(random, names);
        int slash = name.indexOf('/');
        name = slash < 0 ? name : name.substring(0, slash);
        return name.isEmpty() ? "a" : name;
    }

    private static long asOf(Bucket bucket, Answer answer, String key) {
        KeyCursor at = bucket.seek(key);
        KeyCursor below = bucket.seek(key + "/");
        return switch (answer) {
            case Directory _ -> below.asOf();
            case FileEntry _ -> KeyCursor.older(at.asOf(), below.asOfGap());
            case Absent _ -> KeyCursor.older(at.asOfGap(), below.asOfGap());
            case LiveFile _ -> throw new AssertionError("no table knows of " + answer);
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "b"})
    void keyThatIsFileAndFolder_isADirectory(String name) throws Exception {
        List<String> keys = List.of("a", "a-", "a.", "a/", "a//b", "a/b", "a0", "b", "b!", "b/");
        try (Bucket bucket = Bucket.of(Seeded.random(1), keys)) {
            FlatTree tree = new FlatTree(bucket.table);

            assertThat(tree.lookup(new Directory(""), name).answer()).isEqualTo(new Directory(name + "/"));
            assertThat(tree.list(ListRequest.of("a/", "/")).page().commonPrefixes())
                    .containsExactly("a//");
        }
    }

    @Test
    void list_byAnotherDelimiter_throws() throws Exception {
        try (Bucket bucket = Bucket.of(Seeded.random(1), List.of("a"))) {
            FlatTree tree = new FlatTree(bucket.table);

            assertThatThrownBy(() -> tree.list(ListRequest.of("", "-"))).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
