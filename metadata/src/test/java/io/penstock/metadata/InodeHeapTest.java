package io.penstock.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.testing.UsedHeap;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The cost of a name that the kernel knows: at most 280 bytes of heap, including a name of 13 characters. */
@Timeout(60)
class InodeHeapTest {
    private static final int FILES = 200_000;
    private static final int IN_A_DIRECTORY = 1_000;

    @Test
    void acquire_ofManyFiles_takesAtMost280BytesOfHeapForEach() {
        lookUp(new InodeTable(new Directory(""))); // loads the classes
        InodeTable table = new InodeTable(new Directory(""));
        long before = UsedHeap.bytes();

        lookUp(table);

        double each = (UsedHeap.bytes() - before) / (double) FILES;
        assertThat(table.size()).isEqualTo(FILES);
        assertThat(each).isBetween(100.0, 280.0); // less than 100 would mean that it was not measured
    }

    @Test
    void acquire_ofManyDirectories_takesAtMost360BytesOfHeapForEach() {
        InodeTable table = new InodeTable(new Directory(""));
        Directory parent = new Directory("imagenet21k/train/");
        long before = UsedHeap.bytes();

        for (int i = 0; i < FILES; i++) {
            String name = "n%07d.PNGS".formatted(i);
            table.acquire(parent, name, new Directory(parent.prefix() + name + "/"));
        }

        double each = (UsedHeap.bytes() - before) / (double) FILES;
        assertThat(table.size()).isEqualTo(FILES);
        assertThat(each).isBetween(100.0, 360.0);
    }

    private static void lookUp(InodeTable table) {
        Directory directory = null;
        for (int i = 0; i < FILES; i++) {
            if (directory == null || i % IN_A_DIRECTORY == 0) {
                directory = new Directory("imagenet21k/train/n%08d/".formatted(i / IN_A_DIRECTORY));
            }
            String name = "n%07d.JPEG".formatted(i);
            String etag = "\"%032x\"".formatted(i);
            table.acquire(
                    directory,
                    name,
                    Listings.file(new ObjectVersion(directory.key(name), etag, i, Instant.ofEpochSecond(i))));
        }
    }
}
