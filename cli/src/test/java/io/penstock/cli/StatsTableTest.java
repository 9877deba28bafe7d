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

final class StatsTableTest {
    private static final long MIB = 1 << 20;

    private static JsonNode at(double seconds, long times, @Nullable WritebackStatistics writing) {
        return at(seconds, times, writing, Map.of());
    }

    private static JsonNode at(
            double seconds, long times, @Nullable WritebackStatistics writing, Map<String, CallStatistics> calls) {
        return Json.tree(new MountStatistics(
                "s3://data",
                "/mnt/data",
                17,
                seconds,
                new CacheStatistics(
                        100 * times,
                        2000 * times,
                        30 * times,
                        4 * times,
                        3 * MIB * times,
                        1000 * MIB * times,
                        5 * MIB * times,
                        1_250_000_000L * times,
                        50_000_000_000L,
                        0,
                        0,
                        5,
                        0,
                        0,
                        0,
                        64 * MIB,
                        1500 * MIB),
                new ReadaheadStatistics(
                        times, 9 * times, 0, 0, 800 * MIB * times, 80 * MIB * times, 60 * MIB * times, 0, 0),
                new RequestStatistics(10 * times, 2, 3, 4, 5, 6, 7),
                new Cost(0.0123, 0.5),
                new Saved(3 * MIB, 4, 0.25),
                writing,
                calls,
                new InFlight(3, 12),
                new TreeMap<>(Map.of("pages", 512 * MIB, "replies", 20 * MIB)),
                new MountStatistics.Space(0, 0, 0),
                List.of(new MountStatistics.Renaming("train/old/", "train/new/", "copying", 1_200, 5_000)),
                new MountStatistics.Names(1_234_567, 0.43),
                null));
    }

    private static WritebackStatistics writing(long times) {
        return new WritebackStatistics(3 * MIB, 40 * MIB, 2, 12 * MIB, 200 * MIB * times, 0, 1);
    }

    @Test
    void line_betweenTwo_isWhatWasDoneASecond() {
        String text = new StatsTable().line(at(1, 1, writing(1)), at(3, 3, writing(3)));

        assertThat(text.lines().toList().getLast().strip().split(" +"))
                .containsExactly("100", "2000", "30", "4", "10", "800", "75%", "200", "12MiB", "1.5GiB");
    }

    @Test
    void line_ofAReadOnlyMountAtRest_hasNothingOfWrites() {
        String text = new StatsTable().line(at(1, 1, null), at(2, 1, null));

        assertThat(text.lines().toList().getLast().strip().split(" +"))
                .containsExactly("0", "0", "0", "0", "0", "0", "-", "-", "-", "1.5GiB");
    }

    @Test
    void lines_haveHeadingsNowAndThen_andFit80Columns() {
        StatsTable table = new StatsTable();
        int headings = 0;
        for (int i = 0; i < 45; i++) {
            String text = table.line(at(1, 1, writing(1)), at(1.0001, 9_999_999, writing(7)));
            headings += text.contains("GETs/s") ? 1 : 0;
        }
        assertThat(headings).isEqualTo(3);
        assertThat(new StatsTable()
                        .line(at(1, 1, writing(1)), at(3, 3, writing(3)))
                        .lines())
                .allMatch(line -> line.length() <= 80);
    }

    @Test
    void totals_sayAll() {
        assertThat(StatsTable.totals(at(90, 2, writing(2)))).isEqualTo("""
            /mnt/data:   s3://data, process 17, for 90 s
            page reads:  4268: 5% from memory, 94% from NVMe, 1% waited for a fetch, 0% missed
            not counted: reads by the kernel, from its page cache and by passthrough
            bytes read:  6MiB from memory, 2.0GiB from NVMe, 10MiB waited for a fetch
            waited:      2.5 s for the store, 50 s for NVMe, 0 s for limits, summed over all readers
            fetched:     1.6GiB in 20 GETs, 18 of them ahead; 0 failed, 0 cancelled
            requests:    20 GETs, 2 HEADs, 3 listings, 4 PUTs, 5 deletions; 6 retries, 7 throttled
            cost:        0.0123 for requests, 0.5000 for transfer; the cache saved about 0.2500: 3MiB in 4 GETs
            read ahead:  160MiB, of which readers used 75%
            cache:       64MiB in memory, 1.5GiB on NVMe; 5 pages evicted, 0 damaged, 0 not stored, 0 disk errors
            written:     400MiB uploaded, 0B copied by the store; 3MiB in memory, 40MiB staged; 12MiB of 2 closed files to upload; 1 files failed
            in flight:   3 calls, 12 requests to the store
            memory:      512MiB for pages, 20MiB for replies
            renaming:    train/old/ to train/new/: copying, 1200 of 5000 objects
            names:       1234567 listed, about 43%
            """);
        assertThat(StatsTable.totals(at(90, 2, null))).contains("mounted read-only");
    }

    @Test
    void totals_ofCalls_haveALineEach() {
        Map<String, Long> errors = new TreeMap<>(Map.of("ENOENT", 14L, "EIO", 1L));
        CallStatistics lookup = new CallStatistics(1_203, 0, 0, 640, 45_000, 1_240_000_000, errors, new TreeMap<>());
        CallStatistics read =
                new CallStatistics(999_999_999, 1, 1, 999_400, 999_600, 12_000_000, Map.of(), new TreeMap<>());

        Map<String, CallStatistics> calls = new TreeMap<>(Map.of("lookup", lookup, "copy_file_range", read));
        assertThat(StatsTable.totals(at(90, 2, null, calls))).endsWith("""
            calls:              number     p50     p99   p99.9  errors
              copy_file_range  999999999   999us   1.0ms    12ms
              lookup              1203   0.6us    45us    1.2s  1 EIO, 14 ENOENT
            """);
    }
}
