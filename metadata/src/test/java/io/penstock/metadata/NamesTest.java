package io.penstock.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ForwardingObjectStore;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class NamesTest {
    private static final Duration TTL = Duration.ofMinutes(10);

    private final ManualClock clock = new ManualClock();

    @Test
    void objection_notUtf8_isThatAndOfNoOtherName() {
        assertThat(Names.objection("a\udcffb")).isEqualTo("a name in it is not UTF-8");
        assertThat(Names.objection("\udcfe")).isEqualTo("a name in it is not UTF-8");
        assertThat(Names.objection("\ud83d\ude00\ufffdä")).isNull();
    }

    @Test
    void list_keysThatAreNotUtf8_areHiddenAndTheirNeighboursShown() throws Exception {
        ForwardingObjectStore store =
                new ForwardingObjectStore(new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.UTF8)) {
                    @Override
                    public ListPage list(ListRequest request) throws ObjectStoreException {
                        List<StoredObject> objects = new ArrayList<>();
                        for (String key : List.of("ok", "\udcfe\udcff", "\udcff\udcfe")) {
                            objects.add(
                                    new StoredObject(new ObjectVersion(key, "\"x\"", 1, Instant.EPOCH), "STANDARD"));
                        }
                        return new ListPage(objects, List.of(), null);
                    }
                };
        try (Tree tree = new Tree(store, "", new MetadataConfig(TTL, TTL), clock::nanoTime)) {
            assertThat(Listings.names(tree.list(tree.root()))).containsExactly("ok");
        }
    }
}
