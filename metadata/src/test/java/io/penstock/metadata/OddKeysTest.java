package io.penstock.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ListRequest;
import io.penstock.testing.Content;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys that are legal in S3 and awkward as paths: none causes a crash, and none hides its neighbours. */
@Timeout(60)
class OddKeysTest {
    private final ManualClock clock = new ManualClock();
    private final InMemoryObjectStore bucket = new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.UTF8);
    private final Tree tree =
            new Tree(bucket, "", new MetadataConfig(Duration.ofSeconds(60), Duration.ofSeconds(60)), clock::nanoTime);
    private final Directory root = tree.root();

    @AfterEach
    void close() {
        tree.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"d//x", "d//", "d/./x", "d/.", "d/../x", "d/..", "d/nu\0l", "d/nu\0l/x"})
    void inexpressibleKey_isHiddenAndItsNeighboursAreNot(String key) throws Exception {
        bucket.put("d/a", "");
        bucket.put(key, "odd");
        bucket.put("d/z/z", "");

        assertThat(Listings.names(tree.list(new Directory("d/")))).containsExactlyInAnyOrder("a", "z");
        assertThat(tree.hiddenKeys()).isOne();
        assertThat(tree.lookup(root, "d")).isEqualTo(new Directory("d/"));
    }

    /** A mount of {@code d/} has the objects that probe the store in it. */
    @Test
    void ownName_isHiddenAndItsNeighboursAreNot() throws Exception {
        bucket.put("d/a", "");
        bucket.put("d/.penstock/probe-1", "");
        bucket.put(".penstock/probe-2", "");

        assertThat(Listings.names(tree.list(new Directory("d/")))).containsExactly("a");
        assertThat(Listings.names(tree.list(root))).containsExactly("d");
        assertThat(tree.lookup(new Directory("d/"), ".penstock")).isEqualTo(Absent.ABSENT);
    }

    @Test
    void leadingSlash_isHiddenAndItsNeighboursAreNot() throws Exception {
        bucket.put("/etc/passwd", "odd");
        bucket.put("a", "");

        assertThat(Listings.names(tree.list(root))).containsExactly("a");
        assertThat(tree.hiddenKeys()).isOne();
    }

    @Test
    void nameOver255Bytes_isHiddenAndOneOf255IsNot() throws Exception {
        String longest = "é".repeat(127) + "x";
        bucket.put(longest, "");
        bucket.put(longest + "x", "");
        bucket.put("é".repeat(128) + "/x", "");

        assertThat(Listings.names(tree.list(root))).containsExactly(longest);
        assertThat(tree.hiddenKeys()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"tab\there", "new\nline", "\u001b[31m", "sp ace", "100%", "a+b", "ünïcödé", "🚀", "-rf", "a\\b"})
    void unusualName_isShownAndFound(String name) throws Exception {
        ObjectVersion version = bucket.put(name, "");

        assertThat(tree.lookup(root, name)).isEqualTo(Listings.file(version));
        assertThat(Listings.names(tree.list(root))).containsExactly(name);
        assertThat(tree.hiddenKeys()).isZero();
    }

    @Test
    void fileAndDirectoryOfOneName_theDirectoryWins() throws Exception {
        bucket.put("a", "hidden");
        bucket.put("a/b", "");

        assertThat(tree.lookup(root, "a")).isEqualTo(new Directory("a/"));
        assertThat(tree.hiddenKeys()).isOne();
        assertThat(Listings.entries(tree.list(root)))
                .extracting(Listing.Entry::node)
                .containsExactly(new Directory("a/"));
        assertThat(tree.hiddenKeys()).isEqualTo(2);
    }

    @Test
    void fileAndDirectoryOfOneName_pagesApart_theFileNeverShows() throws Exception {
        bucket.put("a", "hidden");
        bucket.put("a/b", "");
        for (int i = 0; i < 2 * ListRequest.MAX_KEYS; i++) {
            bucket.put("a-%05d".formatted(i), "");
        }
        ObjectVersion single = bucket.put("a-", "");

        Listing listing = tree.list(root);
        for (int i = 0; listing.await(i); i++) {
            Listing.Entry entry = listing.get(i);
            assertThat(entry).isNotNull();
            if (entry.name().equals("a")) {
                assertThat(entry.node()).isEqualTo(new Directory("a/"));
            }
        }
        assertThat(Listings.names(listing))
                .hasSize(2 * ListRequest.MAX_KEYS + 2)
                .doesNotHaveDuplicates();
        assertThat(tree.lookup(root, "a-")).isEqualTo(Listings.file(single));
    }

    @Test
    void emptyMarker_makesAnEmptyDirectory() throws Exception {
        bucket.put("d/", "");

        assertThat(tree.lookup(root, "d")).isEqualTo(new Directory("d/"));
        assertThat(Listings.names(tree.list(new Directory("d/")))).isEmpty();
        assertThat(tree.hiddenKeys()).isZero();
    }

    @Test
    void markerWithContent_isADirectoryAndItsContentIsHidden() throws Exception {
        bucket.put("d/", "content");
        bucket.put("d/a", "");

        assertThat(tree.lookup(root, "d")).isEqualTo(new Directory("d/"));
        assertThat(Listings.names(tree.list(new Directory("d/")))).containsExactly("a");
        assertThat(tree.hiddenKeys()).isOne();
    }

    @Test
    void archivedObject_isListed() throws Exception {
        bucket.put("a", Content.of(new byte[3]), "DEEP_ARCHIVE");

        assertThat(tree.lookup(root, "a"))
                .isInstanceOfSatisfying(
                        FileEntry.class,
                        file -> assertThat(file.object().storageClass()).isEqualTo("DEEP_ARCHIVE"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "ascii", "é", "€uro", "🚀🚀", "￿"})
    void utf8Length_isTheLengthOfTheEncoding(String text) {
        assertThat(Names.utf8Length(text)).isEqualTo(text.getBytes(StandardCharsets.UTF_8).length);
    }
}
