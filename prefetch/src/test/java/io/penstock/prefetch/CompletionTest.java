package io.penstock.prefetch;

import static io.penstock.prefetch.FetcherFixture.MIB;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which files are completed in the cache after their close, so that the kernel can read them. */
@Timeout(60)
class CompletionTest {
    private static final ReadaheadConfig NO_READAHEAD = new ReadaheadConfig(0, MIB, 8, 0);
    private static final String NAMESPACE = "memory/bucket";

    @TempDir
    private Path folder;

    private FetcherFixture fixture;

    @BeforeEach
    void open() throws Exception {
        fixture = new FetcherFixture(folder, NO_READAHEAD, 64 * MIB, 16 * MIB);
        fixture.fetcher.setCompletion(new Completion(fixture.fetcher)::add);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private void readAndClose(ObjectVersion version, long bytes, boolean completes) throws Exception {
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            FetcherFixture.readInSequence(reader, version, 0, bytes);
            if (completes) {
                reader.completeAtClose();
            }
        }
    }

    private void awaitWhole(ObjectVersion version) {
        FetcherFixture.await(
                version.key() + " is on disk",
                () -> fixture.cache.residency(NAMESPACE, version).diskBytes() == version.size());
        FetcherFixture.await("it is closed", () -> fixture.fetcher.openObjects() == 0);
    }

    private long fetched(ObjectVersion version) {
        return fixture.store.gets().stream()
                .filter(get -> get.key().equals(version.key()))
                .mapToLong(get -> get.range().length())
                .sum();
    }

    @Test
    void close_nearlyWhole_fetchesTheRestOnce() throws Exception {
        ObjectVersion file = fixture.put("nearly", 16 * MIB + 5);
        readAndClose(file, 15 * MIB, true);
        awaitWhole(file);
        assertThat(fetched(file)).isEqualTo(file.size());
    }

    @Test
    void close_moreMissingOrNotAsked_fetchesNothing() throws Exception {
        ObjectVersion most = fixture.put("most", 16 * MIB);
        ObjectVersion notAsked = fixture.put("not-asked", 16 * MIB);
        ObjectVersion last = fixture.put("last", 16 * MIB);
        readAndClose(most, 13 * MIB, true);
        readAndClose(notAsked, 15 * MIB, false);
        readAndClose(last, 15 * MIB, true);
        awaitWhole(last); // after all files before it
        assertThat(fetched(most)).isEqualTo(13 * MIB);
        assertThat(fetched(notAsked)).isEqualTo(15 * MIB);
    }
}
