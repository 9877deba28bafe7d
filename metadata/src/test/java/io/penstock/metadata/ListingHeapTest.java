package io.penstock.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ForwardingObjectStore;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import io.penstock.testing.UsedHeap;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The heap of listings: never more than the maximum number of entries takes, both in few directories and in many. */
@Timeout(60)
class ListingHeapTest {
    private static final int MOST_LISTED = 15_000;
    private static final int LISTED = 3 * MOST_LISTED;

    private final ManualClock clock = new ManualClock();

    /** Generates a page of files for each directory. */
    private final class MadeUp extends ForwardingObjectStore {
        private final int files;

        MadeUp(int files) {
            super(new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.UTF8));
            this.files = files;
        }

        @Override
        public ListPage list(ListRequest request) {
            List<StoredObject> page = new ArrayList<>();
            for (int i = 0; i < files; i++) {
                String key = request.prefix() + "n%07d.JPEG".formatted(i);
                String etag = "\"%032x\"".formatted(i);
                page.add(new StoredObject(new ObjectVersion(key, etag, i, Instant.ofEpochSecond(i)), "STANDARD"));
            }
            return new ListPage(page, List.of(), null);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 5, 1_000})
    void list_ofManyDirectories_keepsAtMostWhatItsEntriesMayTake(int files) throws Exception {
        list(files, LISTED / 10).close(); // loads the classes
        long before = UsedHeap.bytes();

        try (Tree tree = list(files, LISTED)) {
            long taken = UsedHeap.bytes() - before;
            assertThat((double) taken / MOST_LISTED).isBetween(100.0, (double) MetadataConfig.ENTRY_BYTES);
            assertThat(tree.root().prefix()).isEmpty(); // keeps the tree from being collected earlier
        }
    }

    private Tree list(int files, int entries) throws Exception {
        Duration ttl = Duration.ofSeconds(60);
        Tree tree = new Tree(new MadeUp(files), "", new MetadataConfig(ttl, ttl, MOST_LISTED), clock::nanoTime);
        for (int i = 0; i < entries / Math.max(1, files); i++) {
            Listing listing = tree.list(new Directory("imagenet21k/train/n%08d/".formatted(i)));
            assertThat(listing.await(files)).isFalse();
        }
        return tree;
    }
}
