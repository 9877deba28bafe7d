package io.penstock.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.KeyOrder;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.InMemoryObjectStore.Order;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

final class InMemoryObjectStoreTest extends ObjectStoreWriteContract {
    @Override
    protected TestBucket newBucket() {
        InMemoryObjectStore store = new InMemoryObjectStore();
        return new TestBucket() {
            @Override
            public ObjectStore store() {
                return store;
            }

            @Override
            public void put(String key, byte[] content) {
                store.put(key, content);
            }

            @Override
            public void delete(String key) throws Exception {
                store.delete(key);
            }

            @Override
            public void close() {
                store.close();
            }
        };
    }

    @Override
    protected List<Ability> lacks() {
        return List.of(Ability.COPIES_IN_PARTS);
    }

    @Test
    void get_hugeSyntheticObject_readsItsEnd() throws Exception {
        InMemoryObjectStore store = new InMemoryObjectStore();
        long size = 5L << 30;
        ObjectVersion version = store.putTestData("huge", size);
        CollectingSink sink = new CollectingSink(1000);

        store.get(version, new ByteRange(size - 1000, 1000), sink);

        TestData.of("huge", size).verify(size - 1000, ByteBuffer.wrap(sink.bytes()));
    }

    @Test
    void get_archivedObject_isInvalidState() {
        InMemoryObjectStore store = new InMemoryObjectStore();
        ObjectVersion version = store.put("old", Content.of(new byte[10]), "GLACIER");

        assertThatThrownBy(() -> store.get(version, new ByteRange(0, 10), new CollectingSink(10)))
                .isInstanceOf(ObjectStoreException.InvalidState.class);
    }

    @Test
    void get_closedStore_isUnavailable() {
        InMemoryObjectStore store = new InMemoryObjectStore();
        store.close();

        assertThatThrownBy(() -> store.head("any")).isInstanceOf(ObjectStoreException.Unavailable.class);
    }

    @Test
    void put_sameBytes_keepsTheEtagAndTellsTheNewTime() {
        ManualClock clock = new ManualClock();
        InMemoryObjectStore store = new InMemoryObjectStore("b", clock, Order.UTF8);
        ObjectVersion first = store.put("key", "text");
        clock.advance(Duration.ofMinutes(1));

        ObjectVersion second = store.put("key", "text");

        assertThat(second.etag()).isEqualTo(first.etag());
        assertThat(second.lastModified()).isEqualTo(first.lastModified().plusSeconds(60));
        assertThat(store.put("key", "other").etag()).isNotEqualTo(first.etag());
    }

    @Test
    void list_withoutOrder_showsEachItemOnceAndNotSorted() throws Exception {
        InMemoryObjectStore store = new InMemoryObjectStore("b", new ManualClock(), Order.NONE);
        Set<String> expected = new TreeSet<>();
        for (int i = 0; i < 50; i++) {
            store.put("dir/" + i, "x");
            store.put("dir/sub" + i % 5 + "/" + i, "x");
            store.put("other/" + i, "x");
            expected.add("dir/" + i);
            expected.add("dir/sub" + i % 5 + "/");
        }

        List<String> found = new ArrayList<>();
        ListRequest request = new ListRequest("dir/", "/", null, null, 7);
        ListPage page = store.list(request);
        while (true) {
            page.objects().stream()
                    .map(StoredObject::version)
                    .map(ObjectVersion::key)
                    .forEach(found::add);
            found.addAll(page.commonPrefixes());
            String token = page.nextToken();
            if (token == null) {
                break;
            }
            page = store.list(request.next(token));
        }

        assertThat(found).containsExactlyInAnyOrderElementsOf(expected).isNotEqualTo(List.copyOf(expected));
    }

    @Test
    void list_itemDeletedBetweenPages_goesOnBehindIt() throws Exception {
        InMemoryObjectStore store = new InMemoryObjectStore();
        for (String key : List.of("a", "b/1", "b/2", "c")) {
            store.put(key, "x");
        }
        ListRequest request = new ListRequest("", "/", null, null, 2);
        String token = store.list(request).nextToken();
        store.delete("b/1");

        assertThat(token).isNotNull();
        ListPage rest = store.list(request.next(token));

        assertThat(rest.commonPrefixes()).isEmpty();
        assertThat(rest.objects()).extracting(object -> object.version().key()).containsExactly("c");
    }

    @Test
    void utf8Order_randomKeys_isTheOrderOfTheirBytes() {
        Seeded.check(2000, random -> {
            String a = randomKey(random);
            String b = randomKey(random);
            int expected = Arrays.compareUnsigned(a.getBytes(UTF_8), b.getBytes(UTF_8));
            assertThat(Integer.signum(KeyOrder.COMPARATOR.compare(a, b))).isEqualTo(Integer.signum(expected));
        });
    }

    private static String randomKey(RandomGenerator random) {
        int[] alphabet = {'a', 0x7f, 0x80, 0x7ff, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff};
        StringBuilder key = new StringBuilder();
        for (int i = random.nextInt(4); i > 0; i--) {
            key.appendCodePoint(alphabet[random.nextInt(alphabet.length)]);
        }
        return key.toString();
    }

    @Test
    void etag_otherNameSizeOrGeneration_differs() {
        Set<String> etags = new HashSet<>();
        etags.add(TestData.of("a", 1).etag());
        etags.add(TestData.of("b", 1).etag());
        etags.add(TestData.of("a", 2).etag());
        etags.add(new TestData("a", 1, 1).etag());

        assertThat(etags).hasSize(4);
    }
}
