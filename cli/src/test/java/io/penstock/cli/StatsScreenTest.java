package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.penstock.cache.CacheStatistics;
import io.penstock.fuse.calls.CallStatistics;
import io.penstock.objectstore.s3.RequestStatistics;
import io.penstock.prefetch.ReadaheadStatistics;
import io.penstock.serve.control.Cost;
import io.penstock.serve.control.Json;
import io.penstock.serve.control.MountStatistics;
import io.penstock.serve.control.MountStatistics.InFlight;
import io.penstock.serve.control.Saved;
import io.penstock.writeback.WritebackStatistics;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class StatsScreenTest {
    private static final long MIB = 1 << 20;

    private static JsonNode at(double seconds, long times, @Nullable WritebackStatistics writing) {
        CallStatistics read = new CallStatistics(
                600 * times, 900 * MIB * times, 1, 125_000, 3_250_000, 12_000_000, Map.of("EIO", 2L), new TreeMap<>());
        CallStatistics lookup =
                new CallStatistics(7 * times, 0, 1, 80_000, 31_000_000, 2_000_000_000L, Map.of(), new TreeMap<>());
        return Json.tree(new MountStatistics(
                "s3://data",
                "/mnt/data",
                17,
                seconds,
                new CacheStatistics(
                        100 * times,
                        280 * times,
                        15 * times,
                        5 * times,
                        100 * MIB * times,
                        280 * MIB * times,
                        20 * MIB * times,
                        2_500_000_000L * times,
                        500_000_000L * times,
                        0,
                        0,
                        7 * times,
                        8,
                        9,
                        10,
                        64 * MIB,
                        1500 * MIB),
                new ReadaheadStatistics(
                        times,
                        9 * times,
                        11,
                        12,
                        800 * MIB * times,
                        80 * MIB * times,
                        60 * MIB * times,
                        500_000_000L * times,
                        500_000_000L * times),
                new RequestStatistics(10 * times, 2 * times, times, times, 0, 13, 14),
                new Cost(0.0123, 0.5),
                new Saved(300 * MIB, 4, 0.25),
                writing,
                Map.of("lookup", lookup, "read", read),
                new InFlight(3, 12),
                Map.of(
                        "pages", 512 * MIB,
                        "blocks", 64 * MIB,
                        "names", 30 * MIB,
                        "requests", 8 * MIB,
                        "replies", 20 * MIB,
                        "connections", 3 * MIB),
                new MountStatistics.Space(2000 * MIB, 0, 100 * MIB),
                List.of(new MountStatistics.Renaming("train/old/", "train/new/", "copying", 1_200, 5_000)),
                new MountStatistics.Names(1_234_567, 1),
                null));
    }

    private static WritebackStatistics writing(long times) {
        return new WritebackStatistics(3 * MIB, 40 * MIB, 2, 1200 * MIB, 20 * MIB * times, 0, 1);
    }

    private static List<String> lines(int columns) {
        return screen().lines(columns, 60);
    }

    private static StatsScreen screen() {
        return new StatsScreen(at(3700, 1, writing(1)), at(3702, 3, writing(3)));
    }

    @Test
    void lines_80Columns_haveEverythingBelowEachOther() {
        assertThat(String.join("\n", lines(80))).isEqualTo("""
            s3://data on /mnt/data   process 17   mounted for 1 h 1 min

            Page reads a second           400           900MiB in calls
              from memory                 100    25%    100MiB
              from NVMe                   280    70%    280MiB
              waited for a fetch           15     4%     20MiB
              missed                        5     1%  kernel: not counted
            Waiting readers               3.5  store 2, NVMe 0.5, limits 1
            Calls in flight                 3  requests to the store 12
            Cache                       64MiB  in memory, 1.5GiB on NVMe
              pages evicted a second        7  limit 2.0GiB, pinned 100MiB
              not stored, damaged          10  8, disk errors 9

            Fetched a second           800MiB  in 10 GETs
              ahead of readers          80MiB  used 75%
              failed, cancelled            12  11
            GETs and HEADs a second        10  2, 1 listings
              PUTs, deletions               1  0
              retries, throttled           13  14
            Cost                       0.0123  and 0.5000 for transfer
              the cache saved          0.2500  about 4 GETs, 300MiB

            Uploaded a second           20MiB
              to upload                1.2GiB  of 2 closed files 1 min 0 s left
              in memory, staged          3MiB  40MiB
              files that failed             1

            Renaming train/old/          1200  of 5000 objects, copying

            Names                     1234567  all listed

            Calls            a second     p50     p99   p99.9  errors
            read                  600   125us   3.3ms    12ms       2
            lookup                  7    80us    31ms      2s       0

            Memory outside the heap    637MiB  pages 512MiB
              blocks, connections       64MiB  3MiB, names 30MiB
              requests, replies          8MiB  20MiB\
            """);
    }

    @Test
    void lines_80By24_haveWhatMattersMost_andSayWhatIsMissing() {
        List<String> lines = screen().lines(80, 24);

        assertThat(lines).hasSizeLessThanOrEqualTo(24);
        assertThat(String.join("\n", lines))
                .contains(
                        "s3://data on /mnt/data",
                        "Page reads a second           400",
                        "Waiting readers               3.5",
                        "Cache                       64MiB",
                        "Fetched a second           800MiB",
                        "retries, throttled           13  14",
                        "Uploaded a second           20MiB",
                        "files that failed             1",
                        "Calls            a second");
        assertThat(lines.getLast()).startsWith("lookup ");
        assertThat(screen().lines(80, 18))
                .hasSize(18)
                .last()
                .isEqualTo("… 5 more lines; a larger terminal shows them, or penstock stats --once");
    }

    @ParameterizedTest
    @CsvSource({"80, 50", "200, 50"})
    void lines_ofATerminalThatHoldsAll_areAll(int columns, int rows) {
        assertThat(screen().lines(columns, rows)).isEqualTo(lines(columns));
    }

    @Test
    void lines_200Columns_haveTheCallsBeside() {
        List<String> lines = lines(200);

        assertThat(lines.get(2)).matches("Page reads a second +400 +900MiB in calls +Calls +a second +p50 .*");
        assertThat(lines.get(3)).matches(" +from memory +100 +25% +100MiB +read +600 +125us +3.3ms +12ms +2");
        assertThat(lines).hasSizeLessThan(lines(80).size()).contains("  requests, replies          8MiB  20MiB");
    }

    @ParameterizedTest
    @CsvSource({"40, 10", "80, 24", "120, 30", "200, 50"})
    void lines_fitTheTerminal(int columns, int rows) {
        JsonNode large = at(1, 9_999_999_999L, writing(99_999));

        assertThat(new StatsScreen(at(0.9, 1, writing(1)), large).lines(columns, rows))
                .hasSizeLessThanOrEqualTo(rows)
                .allMatch(line -> line.length() <= columns);
    }

    @Test
    void lines_readOnlyAndAtRest_haveNoWritesAndNoShares() {
        assertThat(new StatsScreen(at(1, 1, null), at(2, 1, null)).lines(80, 60))
                .contains("Mounted read-only", "  from NVMe                     0      -        0B")
                .noneMatch(line -> line.startsWith("Uploaded"));
    }
}
