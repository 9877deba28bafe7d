package io.penstock.filesystem.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.Mounted;
import io.penstock.filesystem.OverOneCache;
import io.penstock.filesystem.kernel.KernelView;
import io.penstock.filesystem.kernel.Kernels;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.MetadataConfig;
import io.penstock.metadata.Tree;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.ReadaheadConfig;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import org.junit.jupiter.api.Test;

class OverlaidNameTest extends OverOneCache {
    @Test
    void show_afterARename_hidesWhereItWas() throws Exception {
        ManualClock clock = new ManualClock();
        InMemoryObjectStore bucket = new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.UTF8);
        bucket.put("a", "1");
        ObjectVersion version = bucket.head("a").version();
        MetadataConfig config = new MetadataConfig(Mounted.TTL, Mounted.NEGATIVE_TTL);
        try (PageFetcher fetcher = new PageFetcher(bucket, cache, "shown", ReadaheadConfig.DEFAULT);
                Tree tree = new Tree(bucket, "", config, clock::nanoTime)) {
            InodeTable inodes = new InodeTable(tree.root());
            KernelView kernel = new KernelView(inodes, new Kernels(inodes), false);
            try (SharedFiles files =
                    new SharedFiles(tree, inodes, fetcher, kernel, KeptAttributes.none(bucket, tree))) {
                Inode inode = inodes.acquireFile(tree.root(), "a");
                SharedFile file = new SharedFile(files, inode, version, files.open(version));
                OverlaidName name = new OverlaidName(tree, inode, file);
                name.overlay();

                inodes.move(inode, tree.root(), "b");
                name.overlay();

                assertThat(tree.lookup(tree.root(), "a")).isInstanceOf(FileEntry.class);
                assertThat(tree.lookup(tree.root(), "b")).isSameAs(file);
                name.uncover();
                assertThat(tree.overlaid(tree.root())).isEmpty();
                file.content().close();
            }
        }
    }
}
