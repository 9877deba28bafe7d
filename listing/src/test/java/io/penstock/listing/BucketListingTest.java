package io.penstock.listing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ForwardingObjectStore;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.DelayingObjectStore;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.Gate;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import io.penstock.testing.RandomKeys;
import io.penstock.testing.Seeded;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.NoSuchElementException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class BucketListingTest {
    @ParameterizedTest
    @EnumSource(InMemoryObjectStore.Order.class)
    void list_anyKeysOfAnyStore_hasEachOnceInOrder(InMemoryObjectStore.Order order) {
        Seeded.check(20, random -> {
            InMemoryObjectStore store = new InMemoryObjectStore("bucket", new ManualClock(), order);
            NavigableSet<String> keys = RandomKeys.set(random, 4_000);
            List<StoredObject> expected = new ArrayList<>();
            String prefix = random.nextBoolean() ? "" : RandomKeys.folder(random, List.copyOf(keys));
            for (String key : keys) {
                ObjectVersion version = store.put(key, key);
                if (key.startsWith(prefix)) {
                    expected.add(new StoredObject(version, "STANDARD"));
                }
            }
            try (BucketListing listing = BucketListing.list(store, prefix, random.nextInt(1, 9), objects -> {})) {
                assertThat(listing).containsExactlyElementsOf(expected);
                assertThat(listing.size()).isEqualTo(expected.size());
                assertThat(listing).hasSameSizeAs(expected); // again, from the beginning
            }
        });
    }

    @Test
    void list_whileAPageIsAwaited_tellsHowManyHaveCome() throws Exception {
        InMemoryObjectStore store = new InMemoryObjectStore();
        for (int i = 0; i < 1_500; i++) {
            store.put("%04d".formatted(i), "1");
        }
        DelayingObjectStore delays = new DelayingObjectStore(store);
        BlockingQueue<Long> told = new LinkedBlockingQueue<>();
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
                Gate gate = delays.hold(
                        call -> call instanceof Call.List list && list.request().continuationToken() != null)) {
            Future<BucketListing> listing = executor.submit(() -> BucketListing.list(delays, "", 1, told::add));
            gate.awaitHeld(1);
            assertThat(told.poll(30, TimeUnit.SECONDS)).isEqualTo(1_000);
            gate.open();
            try (BucketListing all = listing.get()) {
                assertThat(all.size()).isEqualTo(1_500);
            }
        }
    }

    @Test
    void list_storeRefuses_throwsWhatItSays() {
        InMemoryObjectStore store = new InMemoryObjectStore();
        FaultyObjectStore faults = new FaultyObjectStore(store);
        faults.always(Call.List.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));

        assertThatThrownBy(() -> BucketListing.list(faults, "", 4, objects -> {}))
                .isInstanceOf(ObjectStoreException.AccessDenied.class);
    }

    @Test
    void list_oneFolderIsRefused_throwsAndNamesIt() {
        InMemoryObjectStore store = new InMemoryObjectStore();
        store.put("mine/a", "");
        store.put("theirs/a", "");
        FaultyObjectStore faults = new FaultyObjectStore(store);
        faults.always(
                call -> call instanceof Call.List(ListRequest request)
                        && (request.prefix().startsWith("theirs/")
                                || (request.delimiter().isEmpty()
                                        && request.prefix().isEmpty())),
                Fault.fail(ObjectStoreException.AccessDenied::new));

        assertThatThrownBy(() -> BucketListing.list(faults, "", 4, objects -> {}))
                .isInstanceOf(ObjectStoreException.AccessDenied.class)
                .hasMessageContaining("theirs/");
    }

    @Test
    void list_keyThatIsNotOneOfS3s_isSaidToBeCorrupt() {
        StoredObject longer = new StoredObject(
                new ObjectVersion("k".repeat(KeyTableBuilder.MAX_KEY + 1), "\"e\"", 1, Instant.EPOCH), "STANDARD");
        ForwardingObjectStore store = new ForwardingObjectStore(new InMemoryObjectStore()) {
            @Override
            public ListPage list(ListRequest request) {
                return new ListPage(List.of(longer), List.of(), null);
            }
        };

        assertThatThrownBy(() -> BucketListing.list(store, "", 4, objects -> {}))
                .isInstanceOf(ObjectStoreException.Corrupt.class)
                .hasMessageContaining("s3://bucket/");
    }

    @Test
    void iterator_pastTheEnd_throws() throws Exception {
        try (BucketListing listing = BucketListing.list(new InMemoryObjectStore(), "", 1, objects -> {})) {
            assertThatThrownBy(() -> listing.iterator().next()).isInstanceOf(NoSuchElementException.class);
        }
    }
}
