package io.penstock.prefetch;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DirectoryStreamsTest {
    private final List<String> asked = new ArrayList<>();
    private int listed = 10;
    private String listedEtag = "etag";
    private final DirectoryStreams directories = new DirectoryStreams(
            key -> {
                String directory = key.substring(0, key.indexOf('/'));
                asked.add(directory);
                return new Listed(directory, listed, listedEtag);
            },
            () -> ReadaheadConfig.DEFAULT,
            () -> 1 << 30,
            new LongAdder());

    /** Lists all files with a number below {@code size}. */
    private record Listed(String directory, int size, String etag) implements DirectoryFiles {
        @Override
        public int indexOf(String key) {
            int number = Integer.parseInt(key.substring(key.indexOf('/') + 1));
            return number < size ? number : -1;
        }

        @Override
        public ObjectVersion get(int index) {
            return version(directory, index, etag);
        }

        @Override
        public boolean isWhole() {
            return true;
        }
    }

    @Test
    void opened_whatIsCached_asksForNoListing() {
        read("a", false);
        assertThat(asked).isEmpty();
    }

    @Test
    void opened_coldFilesOfADirectory_asksForItsListingOnce() {
        read("a", true);
        read("a", true);
        assertThat(asked).containsExactly("a");
    }

    @Test
    void opened_filesThatItsListingLacks_asksForANewerOne() {
        listed = 0;
        read("a", true);
        assertThat(asked).as("the same each time").containsExactly("a", "a");
        listed = 8;
        read("a", true);
        read("a", true);
        assertThat(asked).as("the newer one has all").containsExactly("a", "a", "a");
    }

    @Test
    void opened_otherVersionsThanItsListingHas_asksForANewerOne() {
        listedEtag = "older";
        read("a", true);
        assertThat(asked).as("the same each time").containsExactly("a", "a");
        listedEtag = "etag";
        read("a", true);
        read("a", true);
        assertThat(asked).as("the newer one has them").containsExactly("a", "a", "a");
    }

    /** As in an outage: the known order is worth more than a newer listing. */
    @Test
    void opened_onceAGetHasFailed_keepsTheListing() {
        DirectoryStream stream = requireNonNull(read("a", true));
        stream.failed(requireNonNull(stream.next()));
        read("a", true);
        read("a", true);
        assertThat(asked).containsExactly("a");
    }

    @Test
    void opened_manyFilesInOtherDirectories_forgetsTheOneUsedFirst() {
        listed = 60_000;
        read("a", true);
        read("b", true);
        read("a", true);
        assertThat(asked).containsExactly("a", "b");
        read("c", true); // 120,000 files in addition to those of a and b: a was used last, so b is forgotten
        read("a", true);
        assertThat(asked).containsExactly("a", "b", "c");
        read("b", true);
        assertThat(asked).containsExactly("a", "b", "c", "b");
    }

    @Test
    void opened_manyDirectories_forgetsTheFirst() {
        IntStream.range(0, 20).forEach(number -> read("d" + number, true));
        read("d19", true);
        read("d0", true);
        assertThat(asked).hasSize(21).endsWith("d0");
    }

    /** Opens some of its files. Returns the result of the last open. */
    private @Nullable DirectoryStream read(String directory, boolean isCold) {
        DirectoryStream last = null;
        for (int number = 0; number < 8; number++) {
            last = directories.opened(version(directory, number, "etag"), isCold);
        }
        return last;
    }

    private static ObjectVersion version(String directory, int number, String etag) {
        return new ObjectVersion(directory + "/" + number, etag, 100, Instant.EPOCH);
    }
}
