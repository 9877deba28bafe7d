package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;

class DataSetTest {
    private static final long MIB = 1 << 20;
    private static final Path FOLDER = Path.of("/m");

    private final DataSet data = new DataSet(64 * MIB, 3);

    @Test
    void sizes_holdEveryObjectOnce() {
        assertThat(data.sizes())
                .containsEntry("shard-00", 64 * MIB)
                .containsEntry("shard-04", 64 * MIB)
                .containsEntry("small/00002", 100L << 10)
                .hasSize(8);
        assertThat(data.totalBytes())
                .isEqualTo(data.sizes().values().stream()
                        .mapToLong(Long::longValue)
                        .sum());
    }

    @Test
    void shardSize_thatDoesNotDivide_isRefused() {
        assertThatThrownBy(() -> new DataSet(33 * MIB, 1)).hasMessageContaining("32 MiB");
    }

    @Test
    void parts_coverAllShardsOnce() {
        List<Fio.Job> parts = data.parts(FOLDER, 16);
        assertThat(parts).hasSize(16).allMatch(part -> part.size() == 16 * MIB);
        assertThat(parts).doesNotHaveDuplicates();
        assertThat(parts)
                .filteredOn(part -> part.file().equals(FOLDER.resolve("shard-03")))
                .hasSize(4);
    }

    @Test
    void coldBlocks_touchEachMibOnceAndNotTwo() {
        for (int length : List.of(4 << 10, 256 << 10)) {
            List<ReadScenarios.Block> blocks = ReadScenarios.blocks(data, length);
            assertThat(blocks).hasSize(4 * 64).isEqualTo(ReadScenarios.blocks(data, length));
            assertThat(blocks)
                    .extracting(block -> block.shard() + " " + block.offset() / MIB)
                    .doesNotHaveDuplicates();
            assertThat(blocks).allMatch(block -> block.offset() % MIB + length <= MIB);
        }
    }

    @Test
    void rangesOfWholes_ofTwoObjects_coverThemInTurn() {
        ObjectVersion a = new ObjectVersion("a", "\"1\"", 20, Instant.EPOCH);
        ObjectVersion b = new ObjectVersion("b", "\"2\"", 5, Instant.EPOCH);
        assertThat(RawGets.wholes(List.of(a, b), 8))
                .containsExactly(
                        new RawGets.Request(a, new ByteRange(0, 8)),
                        new RawGets.Request(b, new ByteRange(0, 5)),
                        new RawGets.Request(a, new ByteRange(8, 8)),
                        new RawGets.Request(a, new ByteRange(16, 4)));
    }

    @Test
    void shards_areInOrder() {
        assertThat(data.shards()).isSortedAccordingTo(Comparator.naturalOrder()).hasSize(DataSet.SHARDS);
    }
}
