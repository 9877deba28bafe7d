package io.penstock.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.Content;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
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
    /** A store, and a table of the same objects. */
    private record Bucket(InMemoryObjectStore store, List<String> keys, KeyTables model) {
        static Bucket of(RandomGenerator random, Iterable<String> keys) throws Exception {
            InMemoryObjectStore store =
                    new InMemoryObjectStore("bucket", new ManualClock(), InMemoryObjectStore.Order.UTF8);
            List<StoredObject> objects = new ArrayList<>();
            for (String key : keys) {
                store.put(key, Content.of(new byte[random.nextInt(9)]), random.nextBoolean() ? "STANDARD" : "GLACIER");
                objects.add(store.head(key));
            }
            KeyTables model = new KeyTables(random, objects);
            return new Bucket(
                    store,
                    objects.stream().map(object -> object.version().key()).toList(),
                    model);
        }
    }

    @Test
    void list_ofRandomKeys_isWhatTheStoreLists() {
        Seeded.check(100, random -> {
            Bucket bucket = Bucket.of(random, RandomKeys.set(random, random.nextInt(5) == 0 ? 400 : 40));
            try (KeyTable table = bucket.model.build()) {
                for (int i = 0; i < 30; i++) {
                    checkPages(bucket, new FlatTree(table), request(random, bucket.keys));
                }
            }
        });
    }

    @Test
    void list_byPagesOfEverySize_isWhatTheStoreLists() {
        Seeded.check(10, random -> {
            Bucket bucket = Bucket.of(random, RandomKeys.set(random, 60));
            try (KeyTable table = bucket.model.build()) {
                String folder = RandomKeys.folder(random, bucket.keys);
                for (int maxKeys = 1; maxKeys <= bucket.keys.size() + 1; maxKeys++) {
                    checkPages(bucket, new FlatTree(table), new ListRequest(folder, "/", null, null, maxKeys));
                    checkPages(bucket, new FlatTree(table), new ListRequest("", "/", null, null, maxKeys));
                    checkPages(bucket, new FlatTree(table), new ListRequest(folder, "", null, null, maxKeys));
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

    private static void checkPages(Bucket bucket, FlatTree tree, ListRequest first) throws Exception {
        ListRequest asked = first;
        ListRequest oracle = first;
        while (true) {
            FlatTree.DatedPage dated = tree.list(asked);
            ListPage page = dated.page();
            ListPage expected = bucket.store.list(oracle);
            assertThat(page.objects()).as("%s", asked).isEqualTo(expected.objects());
            assertThat(page.commonPrefixes()).as("%s", asked).isEqualTo(expected.commonPrefixes());
            checkAsOf(bucket.model, dated, asked);
            if (page.nextToken() == null || expected.nextToken() == null) {
                assertThat(page.nextToken()).as("%s", asked).isEqualTo(expected.nextToken());
                return;
            }
            asked = asked.next(page.nextToken());
            oracle = oracle.next(expected.nextToken());
        }
    }

    /** No page is newer than its entries, or than the absence of further entries at its end. */
    private static void checkAsOf(KeyTables model, FlatTree.DatedPage dated, ListRequest asked) {
        assertThat(model.pageTimes).contains(dated.asOf());
        for (StoredObject object : dated.page().objects()) {
            assertThat(dated.asOf() - model.asOf(model.ceiling(object.version().key())))
                    .isLessThanOrEqualTo(0);
        }
        for (String prefix : dated.page().commonPrefixes()) {
            int begin = model.ceiling(prefix);
            assertThat(dated.asOf() - model.asOf(begin)).isLessThanOrEqualTo(0);
        }
        if (dated.page().nextToken() == null && asked.prefix().isEmpty() && asked.startAfter() == null) {
            assertThat(dated.asOf() - model.asOfGap(model.objects.size())).isLessThanOrEqualTo(0);
        }
    }

    @Test
    void lookup_ofAnyName_isWhatAProbeOfTheStoreSays() {
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            Seeded.check(100, random -> {
                Bucket bucket = Bucket.of(random, RandomKeys.set(random, 100));
                NameProbe probe = new NameProbe(bucket.store, new HiddenKeys("bucket"), executor);
                try (KeyTable table = bucket.model.build()) {
                    FlatTree tree = new FlatTree(table);
                    for (int i = 0; i < 50; i++) {
                        Directory parent = new Directory(RandomKeys.folder(random, bucket.keys));
                        String name = name(random, parent, bucket.keys);

                        LookupCache.Dated answer = tree.lookup(parent, name);

                        assertThat(answer.answer()).as("'%s'", name).isEqualTo(probe.ask(parent, name));
                        assertThat(answer.asOf())
                                .as("'%s'", name)
                                .isEqualTo(asOf(bucket.model, answer.answer(), parent.key(name)));
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

    private static long asOf(KeyTables model, Answer answer, String key) {
        int at = model.ceiling(key);
        int below = model.ceiling(key + "/");
        return switch (answer) {
            case Directory _ -> model.asOf(below);
            case FileEntry _ -> KeyCursor.older(model.asOf(at), model.asOfGap(below));
            case Absent _ -> KeyCursor.older(model.asOfGap(at), model.asOfGap(below));
            case LiveFile _ -> throw new AssertionError("no table knows of " + answer);
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "b"})
    void keyThatIsFileAndFolder_isADirectory(String name) throws Exception {
        List<String> keys = List.of("a", "a-", "a.", "a/", "a//b", "a/b", "a0", "b", "b!", "b/");
        Bucket bucket = Bucket.of(Seeded.random(1), keys);
        try (KeyTable table = bucket.model.build()) {
            FlatTree tree = new FlatTree(table);

            assertThat(tree.lookup(new Directory(""), name).answer()).isEqualTo(new Directory(name + "/"));
            assertThat(tree.list(ListRequest.of("a/", "/")).page().commonPrefixes())
                    .containsExactly("a//");
        }
    }

    @Test
    void list_byAnotherDelimiter_throws() throws Exception {
        try (KeyTable table = Bucket.of(Seeded.random(1), List.of("a")).model.build()) {
            FlatTree tree = new FlatTree(table);

            assertThatThrownBy(() -> tree.list(ListRequest.of("", "-"))).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
