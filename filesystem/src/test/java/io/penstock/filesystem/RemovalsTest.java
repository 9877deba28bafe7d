package io.penstock.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.metadata.Absent;
import io.penstock.metadata.Directory;
import io.penstock.metadata.MetadataConfig;
import io.penstock.metadata.Node;
import io.penstock.metadata.Tree;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import org.junit.jupiter.api.Test;

class RemovalsTest {
    @Test
    void hide_shownAgainMeanwhile_holdsUntilTheObjectIsDeleted() throws Exception {
        ManualClock clock = new ManualClock();
        InMemoryObjectStore bucket = new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.UTF8);
        bucket.put("a", "1");
        MetadataConfig config = new MetadataConfig(Mounted.TTL, Mounted.NEGATIVE_TTL);
        try (Tree tree = new Tree(bucket, "", config, clock::nanoTime);
                Behind behind = new Behind()) {
            Removals removals = new Removals(tree, bucket, behind);
            Directory root = tree.root();
            Node opened = (Node) tree.lookup(root, "a");
            Runnable last = removals.defer(root, "a", bucket.head("a").version());
            tree.show(root, "a", opened); // as who opens it to be written
            tree.unshow(root, "a", opened);

            removals.hide("a");

            assertThat(tree.lookup(root, "a")).isEqualTo(Absent.ABSENT);
            last.run();
            removals.hide("a");
            assertThat(tree.shown(root)).isEmpty();
            bucket.put("a", "2");
            clock.advance(Mounted.NEGATIVE_TTL);
            assertThat(tree.lookup(root, "a")).isInstanceOf(Node.class);
        }
    }
}
