package io.penstock.filesystem.names;

import static io.penstock.filesystem.Mounted.assertErrno;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.Mounted;
import io.penstock.filesystem.OverOneCache;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.kernel.KernelView;
import io.penstock.filesystem.kernel.Kernels;
import io.penstock.metadata.Absent;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.MetadataConfig;
import io.penstock.metadata.Node;
import io.penstock.metadata.Tree;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.ReadaheadConfig;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RemovalsTest extends OverOneCache {
    private final InMemoryObjectStore bucket =
            new InMemoryObjectStore("bucket", new ManualClock(), InMemoryObjectStore.Order.UTF8);
    private final Tree tree =
            new Tree(bucket, "", new MetadataConfig(Mounted.TTL, Mounted.NEGATIVE_TTL), System::nanoTime);
    private final PageFetcher fetcher = new PageFetcher(bucket, cache, "removals", ReadaheadConfig.DEFAULT);
    private final InodeTable inodes = new InodeTable(tree.root());
    private final SharedFiles files = new SharedFiles(
            tree,
            inodes,
            fetcher,
            new KernelView(inodes, new Kernels(inodes), false),
            KeptAttributes.none(bucket, tree));
    private final Removals removals = new Removals(inodes, files);
    private final Directory root = tree.root();

    @AfterEach
    void close() {
        files.close();
        fetcher.close();
        tree.close();
    }

    @Test
    void remove_openedToBeWrittenMeanwhile_leavesWhatIsShownThen() throws Exception {
        bucket.put("a", "1");
        Node opened = (Node) tree.lookup(root, "a");

        removals.remove(root, "a", () -> {
            assertThat(tree.lookupNow(root, "a")).isEqualTo(Absent.ABSENT);
            tree.overlay(root, "a", opened);
            return true;
        });

        assertThat(tree.overlaid(root)).containsOnlyKeys("a");
        tree.uncover(root, "a", opened);
        assertThat(tree.overlaid(root)).isEmpty();
    }

    @Test
    void remove_leftToAnother_hidesTheNameUntilThatEndsIt() throws Exception {
        bucket.put("a", "1");

        removals.remove(root, "a", () -> false);

        assertThat(tree.lookup(root, "a")).isEqualTo(Absent.ABSENT);
        assertErrno(Errno.ENOENT, () -> removals.remove(root, "a", () -> true));
        removals.end(new Place(root, "a"), false);
        assertThat(tree.lookup(root, "a")).isInstanceOf(Node.class);
    }

    @Test
    void remove_whatIsBeingRemoved_isEnoent() throws Exception {

        removals.remove(root, "a", () -> {
            assertErrno(Errno.ENOENT, () -> removals.remove(root, "a", () -> true));
            return true;
        });

        assertThat(tree.overlaid(root)).isEmpty();
    }

    @Test
    void await_removalFails_isEstale() throws Exception {
        bucket.put("a", "1");
        CompletableFuture<Errno> wanted = new CompletableFuture<>();

        assertErrno(
                Errno.EINTR,
                () -> removals.remove(root, "a", () -> {
                    Thread waiting = Thread.startVirtualThread(() -> {
                        try {
                            removals.await(root, "a");
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
