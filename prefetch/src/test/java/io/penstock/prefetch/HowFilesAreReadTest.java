package io.penstock.prefetch;

import static io.penstock.prefetch.FetcherFixture.KIB;
import static io.penstock.prefetch.FetcherFixture.MIB;
import static io.penstock.prefetch.FetcherFixture.readAndVerify;
import static io.penstock.prefetch.FetcherFixture.readInSequence;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What an open learns from earlier ones. */
@Timeout(60)
class HowFilesAreReadTest {
    @TempDir
    private Path directory;

    private FetcherFixture fixture;

    @BeforeEach
    void open() throws IOException {
        fixture = new FetcherFixture(directory, ReadaheadConfig.DEFAULT, 512 * MIB, 256 * MIB);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void isStreamed_afterARunBeyondTheKernelsReadahead_isTrue() throws Exception {
        ObjectVersion version = fixture.put("shard", 100 * MIB);
        try (ObjectReader first = fixture.fetcher.open(version)) {
            assertThat(first.isStreamed()).isFalse();
            readInSequence(first, version, 0, 40 * MIB);
        }
        assertThat(isStreamed(version)).isTrue();
        assertThat(isStreamed(version))
                .as("an open that reads nothing changes nothing")
                .isTrue();
    }

    @Test
    void isStreamed_afterFaultsWithLargeReadahead_isFalseAgain() throws Exception {
        ObjectVersion version = fixture.put("index", 400 * MIB);
        try (ObjectReader first = fixture.fetcher.open(version)) {
            readInSequence(first, version, 0, 40 * MIB);
        }
        try (ObjectReader mapped = fixture.fetcher.open(version)) {
            assertThat(mapped.isStreamed()).isTrue();
            for (int fault = 1; fault < 15; fault++) { // each fault reads 4 MiB around it
                long from = fault * 27L * MIB % (390 * MIB);
                readInSequence(mapped, version, from, from + 4 * MIB);
            }
        }
        assertThat(isStreamed(version)).isFalse();
    }

    @Test
    void isStreamed_smallObject_isTrueAtOnce() throws Exception {
        ObjectVersion version = fixture.put("image", 300 * KIB);
        assertThat(isStreamed(version)).isTrue();
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            readAndVerify(reader, version, 5, 5);
        }
        assertThat(isStreamed(version)).isTrue();
    }

    @Test
    void isStreamed_ofAFileNeverRead_isWhatItsSiblingsWere() throws Exception {
        ObjectVersion shard = fixture.put("d/shard-0.tar", 100 * MIB);
        ObjectVersion index = fixture.put("d/shard-0.idx", 100 * MIB);
        ObjectVersion nextShard = fixture.put("d/shard-1.tar", 100 * MIB);
        ObjectVersion nextIndex = fixture.put("d/shard-1.idx", 100 * MIB);
        ObjectVersion elsewhere = fixture.put("e/shard-1.tar", 100 * MIB);
        try (ObjectReader reader = fixture.fetcher.open(shard)) {
            readInSequence(reader, shard, 0, 40 * MIB);
        }
        try (ObjectReader reader = fixture.fetcher.open(index)) {
            for (int at = 90; at > 0; at -= 10) {
                readAndVerify(reader, index, (long) at * MIB, (int) (4 * KIB));
            }
        }
        assertThat(isStreamed(nextShard)).isTrue();
        assertThat(isStreamed(nextIndex)).isFalse();
        assertThat(isStreamed(elsewhere)).isFalse();
        try (ObjectReader reader = fixture.fetcher.open(nextShard)) {
            for (int at = 90; at > 0; at -= 10) {
                readAndVerify(reader, nextShard, (long) at * MIB, (int) (4 * KIB));
            }
        }
        assertThat(isStreamed(nextShard)).as("what is known of itself counts").isFalse();
        assertThat(isStreamed(shard)).as("what is known of itself counts").isTrue();
    }

    private boolean isStreamed(ObjectVersion version) {
        try (ObjectReader reader = fixture.fetcher.open(version)) {
            return reader.isStreamed();
        }
    }
}
