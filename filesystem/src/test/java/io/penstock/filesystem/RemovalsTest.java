package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.assertErrno;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.Removals.Kept;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Directory;
import io.penstock.metadata.MetadataConfig;
import io.penstock.metadata.Node;
import io.penstock.metadata.Tree;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class RemovalsTest {
    @Test
    void remove_shownAgainMeanwhile_hidesUntilTheObjectIsDeleted() throws Exception {
        ManualClock clock = new ManualClock();
        InMemoryObjectStore bucket = new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.UTF8);
        ObjectVersion version = bucket.put("a", "1");
        MetadataConfig config = new MetadataConfig(Mounted.TTL, Mounted.NEGATIVE_TTL);
        try (Tree tree = new Tree(bucket, "", config, clock::nanoTime);
                Behind behind = new Behind()) {
            Removals removals = new Removals(tree, bucket, behind);
            Directory root = tree.root();
            Node opened = (Node) tree.lookup(root, "a");
            List<Runnable> last = new ArrayList<>();

            removals.remove(root, "a", () -> {
                assertThat(tree.lookupNow(root, "a")).isEqualTo(Absent.ABSENT);
                tree.show(root, "a", opened); // as who opens it to be written
                tree.unshow(root, "a", opened);
                return new Kept(version, last::add);
            });

            assertThat(tree.lookup(root, "a")).isEqualTo(Absent.ABSENT);
            last.getFirst().run();
            assertThat(tree.shown(root)).isEmpty();
            bucket.put("a", "2");
            clock.advance(Mounted.NEGATIVE_TTL);
            assertThat(tree.lookup(root, "a")).isInstanceOf(Node.class);
        }
    }

    @Test
    void finish_whileTheRemovalFails_isEstaleUponWhichTheKernelLooksItUpAgain() throws Exception {
        InMemoryObjectStore bucket =
                new InMemoryObjectStore("bucket", new ManualClock(), InMemoryObjectStore.Order.UTF8);
        bucket.put("a", "1");
        MetadataConfig config = new MetadataConfig(Mounted.TTL, Mounted.NEGATIVE_TTL);
        try (Tree tree = new Tree(bucket, "", config, System::nanoTime);
                Behind behind = new Behind()) {
            Removals removals = new Removals(tree, bucket, behind);
            Directory root = tree.root();
            CompletableFuture<Errno> wanted = new CompletableFuture<>();

            assertErrno(
                    Errno.EINTR,
                    () -> removals.remove(root, "a", () -> {
                        Thread waiting = Thread.startVirtualThread(() -> {
                            try {
                                removals.finish(root, "a");
                                wanted.completeExceptionally(new AssertionError("it was removed"));
                            } catch (ErrnoException e) {
                                wanted.complete(e.errno());
                            }
                        });
                        while (waiting.getState() != Thread.State.WAITING) {
                            Thread.onSpinWait();
                        }
                        throw new ErrnoException(Errno.EINTR, "a signal came");
                    }));

            assertThat(wanted.get()).isEqualTo(Errno.ESTALE);
            assertThat(tree.lookup(root, "a")).isInstanceOf(Node.class);
        }
    }
}
