package io.penstock.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.listing.WholeListing;
import io.penstock.objectstore.ForwardingObjectStore;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListPages;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Stores and proxies that repeat pages of a listing, in every loop that follows a token. */
@Timeout(60)
final class RepeatedPagesTest {
    private static final Duration TTL = Duration.ofMinutes(10);

    private final ManualClock clock = new ManualClock();
    private final InMemoryObjectStore bucket = new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.UTF8);

    /** How the store repeats itself. */
    enum Repetition {
        /** A cache in front of the store ignores the token. */
        SAME_PAGE,
        /** The same page, with another token each time. */
        SAME_PAGE_NEW_TOKEN,
        /** Only tokens without content, in a circle. */
        EMPTY_PAGES_IN_A_CIRCLE
    }

    private static final class Repeating extends ForwardingObjectStore {
        private final Repetition how;
        private final AtomicInteger listings = new AtomicInteger();

        Repeating(InMemoryObjectStore bucket, Repetition how) {
            super(bucket);
            this.how = how;
        }

        @Override
        public ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
            int listing = listings.incrementAndGet();
            ListPage page = store.list(new ListRequest(request.prefix(), request.delimiter(), null, null, 2));
            return switch (how) {
                case SAME_PAGE -> new ListPage(page.objects(), page.commonPrefixes(), "token");
                case SAME_PAGE_NEW_TOKEN -> new ListPage(page.objects(), page.commonPrefixes(), "token" + listing);
                case EMPTY_PAGES_IN_A_CIRCLE -> new ListPage(List.of(), List.of(), "token" + listing % 5);
            };
        }
    }

    private Repeating repeating(Repetition how) {
        bucket.put("d/", "");
        bucket.put("d/a", "");
        bucket.put("d/b", "");
        return new Repeating(bucket, how);
    }

    private Tree tree(Repeating store, int concurrency) {
        return new Tree(store, "", new MetadataConfig(TTL, TTL, concurrency, PreloadConfig.OFF), clock::nanoTime);
    }

    @ParameterizedTest
    @EnumSource
    void next_pageAgain_isAnError(Repetition how) {
        Repeating store = repeating(how);
        ListPages pages = new ListPages(store::list, ListRequest.of("d/", ""));

        assertThatThrownBy(() -> {
                    while (pages.next() != null) {
                        // to the end
                    }
                })
                .isInstanceOf(ObjectStoreException.Corrupt.class)
                .hasMessageContaining("listing of 'd/'");
        assertThat(store.listings).hasValueLessThan(20);
    }

    @ParameterizedTest
    @EnumSource
    void read_directory_isAnErrorAtEachReadAndNoneWhenTheStoreIsRight(Repetition how) throws Exception {
        Repeating store = repeating(how);
        for (int concurrency : List.of(1, 8)) {
            try (Tree tree = tree(store, concurrency)) {
                Listing listing = tree.list(tree.root().child("d"));

                assertThatThrownBy(() -> listing.await(100_000)).isInstanceOf(ObjectStoreException.Corrupt.class);
                assertThatThrownBy(() -> listing.await(100_000)).isInstanceOf(ObjectStoreException.Corrupt.class);
            }
        }
        assertThat(store.listings).hasValueLessThan(200);
    }

    @Test
    void isEmpty_onlyTheMarkerAgainAndAgain_isAnError() throws Exception {
        bucket.put("d/", "");
        try (Tree tree = tree(new Repeating(bucket, Repetition.SAME_PAGE), 1)) {
            Directory directory = tree.root().child("d");
            assertThatThrownBy(() -> tree.isEmpty(directory)).isInstanceOf(ObjectStoreException.Corrupt.class);
        }
    }

    @Test
    void lookup_emptyPagesInACircle_isAnError() {
        Repeating store = repeating(Repetition.EMPTY_PAGES_IN_A_CIRCLE);
        try (Tree tree = tree(store, 1)) {
            assertThatThrownBy(() -> tree.lookup(tree.root(), "x")).isInstanceOf(ObjectStoreException.Corrupt.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void list_wholeBucket_isAnError(Repetition how) {
        Repeating store = repeating(how);
        try (var executor = Executors.newVirtualThreadPerTaskExecutor();
                WholeListing listing = new WholeListing(store, "", 8, 1 << 20, executor, clock::nanoTime)) {
            assertThatThrownBy(listing::list)
                    .isInstanceOfAny(ObjectStoreException.Corrupt.class, IllegalArgumentException.class);
        }
        assertThat(store.listings).hasValueLessThan(40);
    }

    /** Some stores list like this: they repeat a common prefix, and send empty pages. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 10})
    void next_rightStore_hasAllPages(int size) throws Exception {
        for (int i = 0; i < 50; i++) {
            bucket.put("f/" + i % 7 + "/" + i, "");
        }
        AtomicInteger tokens = new AtomicInteger();
        ListPages pages = new ListPages(
                request -> {
                    int page = tokens.incrementAndGet();
                    return new ListPage(
                            List.of(),
                            page % 2 == 0 ? List.of() : List.of("f/" + page / size + "/"),
                            page == 40 ? null : "t" + page);
                },
                ListRequest.of("f/", "/"));
        int count = 0;
        while (pages.next() != null) {
            count++;
        }
        assertThat(count).isEqualTo(40);
    }
}
