package io.penstock.prefetch;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ByteRange;
import io.penstock.testing.Seeded;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class StreamsTest {
    private static final long KIB = 1 << 10;
    private static final long MIB = 1 << 20;
    private static final long GIB = 1 << 30;
    private static final long REQUEST = 128 * KIB;

    private final StreamsModel file = model(GIB);

    private static StreamsModel model(long size) {
        return new StreamsModel(new ReadaheadConfig(128 * MIB, 8 * MIB, 64, 0), size);
    }

    private static void readInSequence(StreamsModel file, long from, long to, long request) {
        for (long at = from; at < to; at += request) {
            file.read(at, Math.min(request, to - at));
        }
    }

    @Test
    void read_fromStart_oneReadFetchesOnePage() {
        file.read(0, 4 * KIB);
        assertThat(file.demand).containsExactly(new ByteRange(0, MIB));
        assertThat(file.readahead).isEmpty();
    }

    @Test
    void read_wholeFileInSequence_readaheadOnlyAndEachByteOnce() {
        readInSequence(file, 0, GIB, REQUEST);
        assertThat(file.demand).containsExactly(new ByteRange(0, MIB));
        long next = MIB;
        for (ByteRange range : file.readahead) {
            assertThat(range.offset()).isEqualTo(next);
            next = range.end();
        }
        assertThat(next).isEqualTo(GIB);
        assertThat(file.used.sum()).isEqualTo(GIB - MIB);
    }

    @Test
    void read_rampedUp_rangesAreFullAndAligned() {
        readInSequence(file, 0, GIB, REQUEST);
        assertThat(file.readahead)
                .filteredOn(range -> range.offset() >= 40 * MIB)
                .allSatisfy(range -> {
                    assertThat(range.length()).isEqualTo(8 * MIB);
                    assertThat(range.offset() % (8 * MIB)).isZero();
                });
        assertThat(file.readahead)
                .filteredOn(range -> range.offset() < 32 * MIB)
                .hasSizeLessThan(20);
    }

    @Test
    void read_fromStart_unusedIsBoundedByFourTimesTheUsed() {
        for (long at = 0; at < GIB; at += REQUEST) {
            file.read(at, REQUEST);
            long used = at + REQUEST;
            assertThat(file.fetchedBytes() - used).isLessThanOrEqualTo(Math.min(4 * used, 128 * MIB) + MIB);
        }
    }

    @Test
    void read_fromTheMiddle_unusedIsBoundedByTwiceTheUsed() {
        long start = 300 * MIB + 4 * KIB;
        for (long at = start; at < 900 * MIB; at += REQUEST) {
            file.read(at, REQUEST);
            long used = at + REQUEST - start;
            assertThat(file.fetchedBytes() - used).isLessThanOrEqualTo(Math.min(2 * used, 128 * MIB) + 2 * MIB);
        }
        assertThat(file.readahead.getLast().end()).isGreaterThan(900 * MIB + 112 * MIB);
    }

    @Test
    void read_window_keepsSixteenRangesAhead() {
        readInSequence(file, 0, 512 * MIB, REQUEST);
        assertThat(file.readahead.getLast().end()).isEqualTo(640 * MIB);
    }

    @Test
    void read_windowZero_readsNothingAhead() {
        StreamsModel off = new StreamsModel(new ReadaheadConfig(0, 8 * MIB, 64, 0), GIB);
        readInSequence(off, 0, 16 * MIB, REQUEST);
        assertThat(off.readahead).isEmpty();
        assertThat(off.demand)
                .hasSize(16)
                .allSatisfy(range -> assertThat(range.length()).isEqualTo(MIB));
    }

    @Test
    void read_random4KiB_fetchesOnePageEach() {
        RandomGenerator random = Seeded.random(1);
        for (int i = 0; i < 100_000; i++) {
            file.read(random.nextLong(GIB / (4 * KIB)) * 4 * KIB, 4 * KIB);
        }
        assertThat(file.readahead).isEmpty();
        assertThat(file.demand).allSatisfy(range -> assertThat(range.length()).isEqualTo(MIB));
    }

    @Test
    void read_random4KiBInSmallRegion_fetchesOnePageEach() {
        Seeded.check(20, random -> {
            StreamsModel small = model(24 * MIB);
            for (int i = 0; i < 3_000; i++) {
                small.read(random.nextLong(24 * MIB / (4 * KIB)) * 4 * KIB, 4 * KIB);
                assertThat(small.untouched()).isZero();
            }
        });
    }

    @Test
    void read_random256KiB_fetchesOnlyTouchedPages() {
        Seeded.check(10, random -> {
            StreamsModel large = model(GIB);
            for (int i = 0; i < 2_000; i++) {
                // Like the kernel's requests for one such read: 128 KiB each.
                long at = random.nextLong((GIB - 256 * KIB) / (4 * KIB)) * 4 * KIB;
                large.read(at, REQUEST);
                large.read(at + REQUEST, REQUEST);
                assertThat(large.untouched()).isZero();
            }
        });
    }

    @Test
    void read_random1MiBRequests_fetchesLittleElse() {
        RandomGenerator random = Seeded.random(5);
        for (int i = 0; i < 300; i++) {
            file.read(random.nextLong(GIB / (4 * KIB) - 256) * 4 * KIB, MIB);
        }
        // Occasionally one read begins where another ended.
        assertThat(file.untouched()).isLessThanOrEqualTo(file.touched.cardinality() / 20);
    }

    @Test
    void read_footerFirst_fetchesOnePage() {
        file.read(GIB - 8, 8);
        file.read(GIB - 64 * KIB, 64 * KIB - 8);
        assertThat(file.demand).containsExactly(new ByteRange(GIB - MIB, MIB));
        assertThat(file.readahead).isEmpty();
    }

    @Test
    void read_sequenceThenRandom_collapses() {
        readInSequence(file, 0, 64 * MIB, REQUEST);
        int before = file.readahead.size();
        RandomGenerator random = Seeded.random(2);
        for (int i = 0; i < 1_000; i++) {
            file.read(GIB / 2 + random.nextLong(GIB / 2 / (4 * KIB)) * 4 * KIB, 4 * KIB);
        }
        assertThat(file.readahead).hasSize(before);
        assertThat(file.demand).allSatisfy(range -> assertThat(range.length()).isEqualTo(MIB));
    }

    @Test
    void read_backwards_fetchesOnlyTouchedPages() {
        for (long at = GIB - REQUEST; at >= GIB / 2; at -= REQUEST) {
            file.read(at, REQUEST);
        }
        assertThat(file.readahead).isEmpty();
        assertThat(file.untouched()).isZero();
    }

    @Test
    void read_forwardsAfterBackwards_isFoundAnew() {
        for (long at = 256 * MIB - REQUEST; at >= 0; at -= REQUEST) {
            file.read(at, REQUEST);
        }
        file.fetched.clear(); // evicted
        file.demand.clear();
        readInSequence(file, 0, 256 * MIB, REQUEST);
        assertThat(file.demand).hasSizeLessThanOrEqualTo(8);
        assertThat(file.readahead).hasSizeGreaterThan(25);
    }

    @Test
    void read_backwardsInBlocks_isMistakenForAStreamOnce() {
        for (long block = 900 * MIB; block >= 500 * MIB; block -= MIB) {
            readInSequence(file, block, block + MIB, REQUEST);
        }
        assertThat(file.untouched()).isEqualTo(2);
    }

    @Test
    void read_strided_fetchesOnlyTouchedPages() {
        for (long at = 0; at < GIB; at += 4 * MIB) {
            file.read(at, REQUEST);
        }
        assertThat(file.untouched()).isZero();
    }

    @Test
    void read_reorderedByTheKernel_isOneStream() {
        Seeded.check(50, random -> {
            StreamsModel reordered = model(GIB);
            for (long at : shuffled(random, 0, 256 * MIB, 12)) {
                reordered.read(at, REQUEST);
            }
            assertThat(reordered.readahead.getLast().end()).isGreaterThanOrEqualTo(256 * MIB + 112 * MIB);
            // Demand pages were requested before the stream was detected.
            assertThat(reordered.demand)
                    .allSatisfy(range -> assertThat(range.end()).isLessThanOrEqualTo(6 * MIB));
            assertThat(reordered.streams.count()).isEqualTo(1);
        });
    }

    @Test
    void read_pairsSwappedFromTheStart_isFound() {
        for (long at = 0; at < 64 * MIB; at += 2 * REQUEST) {
            file.read(at + REQUEST, REQUEST);
            file.read(at, REQUEST);
        }
        assertThat(file.readahead.getLast().end()).isGreaterThanOrEqualTo(64 * MIB + 112 * MIB);
    }

    @Test
    void read_reorderedInTheMiddle_isFound() {
        Seeded.check(50, random -> {
            StreamsModel reordered = model(GIB);
            for (long at : shuffled(random, 512 * MIB, 576 * MIB, 12)) {
                reordered.read(at, REQUEST);
            }
            assertThat(reordered.readahead.getLast().end()).isGreaterThanOrEqualTo(576 * MIB + 96 * MIB);
        });
    }

    @Test
    void read_eightInterleavedStreams_eachRunsAhead() {
        long part = GIB / 8;
        for (long visit = 0; visit < 32; visit++) {
            for (long stream = 0; stream < 8; stream++) {
                long at = stream * part + visit * MIB;
                readInSequence(file, at, at + MIB, REQUEST);
            }
        }
        // Only the first page of each stream waits for its own GET.
        assertThat(file.demand).hasSize(8);
    }

    @Test
    void read_interleavedStreamsCloseToEachOther_eachRunsAhead() {
        StreamsModel small = model(64 * MIB);
        for (long visit = 0; visit < 4; visit++) {
            for (long stream = 0; stream < 8; stream++) {
                long at = stream * 8 * MIB + visit * MIB;
                readInSequence(small, at, at + MIB, REQUEST);
            }
        }
        assertThat(small.demand).hasSizeLessThanOrEqualTo(8);
    }

    @Test
    void read_randomBesideStream_streamGoesOn() {
        RandomGenerator random = Seeded.random(3);
        for (long at = 0; at < 32 * MIB; at += REQUEST) {
            file.read(at, REQUEST);
            // A full table of runs would evict a stream before it is detected.
            for (int i = 0; i < (at < MIB ? 60 : 300); i++) {
                file.read(GIB / 2 + random.nextLong(GIB / 2 / (4 * KIB)) * 4 * KIB, 4 * KIB);
            }
        }
        assertThat(file.demand).filteredOn(range -> range.offset() < GIB / 2).containsExactly(new ByteRange(0, MIB));
    }

    @Test
    void read_shortSkips_streamGoesOn() {
        for (long at = 0; at < GIB / 2; at += 3 * REQUEST) { // two requests of three
            file.read(at, 2 * REQUEST);
        }
        assertThat(file.readahead.getLast().end()).isGreaterThanOrEqualTo(GIB / 2 + 112 * MIB);
        assertThat(file.untouched()).isLessThanOrEqualTo(128);
    }

    @Test
    void read_secondPassFromTheStart_isFoundAnew() {
        readInSequence(file, 0, GIB, REQUEST);
        file.fetched.clear(); // evicted
        file.readahead.clear();
        file.demand.clear();
        readInSequence(file, 0, GIB, REQUEST);
        assertThat(file.demand).hasSizeLessThanOrEqualTo(3);
        assertThat(file.readahead).hasSizeGreaterThan(100);
    }

    @Test
    void read_readaheadIsLost_windowHalvesAndRecovers() {
        readInSequence(file, 0, 128 * MIB, REQUEST);
        file.fetched.clear();
        file.readahead.clear();
        file.read(128 * MIB, REQUEST);
        assertThat(file.readahead).isEmpty();
        readInSequence(file, 128 * MIB + REQUEST, 256 * MIB, REQUEST);
        file.fetched.clear();
        long before = file.readahead.getLast().end();
        assertThat(before).isBetween(256 * MIB + 64 * MIB, 256 * MIB + 88 * MIB);
        readInSequence(file, 256 * MIB, GIB - 128 * MIB, REQUEST);
        assertThat(file.readahead.getLast().end()).isGreaterThanOrEqualTo(GIB - 16 * MIB);
    }

    @Test
    void pause_memoryShort_goesOnAfterAPage() {
        Streams streams = file.streams;
        Stream stream = null;
        long at = 0;
        for (; stream == null; at += REQUEST) {
            stream = streams.observe(at, at + REQUEST);
        }
        ByteRange wanted = streams.issue(stream);
        assertThat(wanted).isNotNull();
        streams.pause(stream, wanted.offset());
        for (long until = at + MIB - REQUEST; at < until; at += REQUEST) {
            assertThat(streams.observe(at, at + REQUEST)).isNull();
        }
        assertThat(streams.observe(at, at + REQUEST)).isSameAs(stream);
        assertThat(streams.issue(stream))
                .isNotNull()
                .extracting(ByteRange::offset)
                .isEqualTo(2 * MIB);
    }

    @Test
    void claimed_partOfTheRange_restIsIssuedAgain() {
        Stream stream = null;
        for (long at = 0; stream == null; at += REQUEST) {
            stream = file.streams.observe(at, at + REQUEST);
        }
        ByteRange range = file.streams.issue(stream);
        assertThat(range).isNotNull();
        file.streams.claimed(stream, range, new ByteRange(range.offset() - 7, 7));
        assertThat(file.streams.issue(stream)).isEqualTo(range);
    }

    @Test
    void claimed_readerIsPastTheClaim_restBeginsAtTheReader() {
        Stream stream = null;
        long at = 0;
        for (; stream == null; at += REQUEST) {
            stream = file.streams.observe(at, at + REQUEST);
        }
        ByteRange range = requireNonNull(file.streams.issue(stream));
        while (range.length() == MIB) {
            file.streams.observe(at, range.end());
            at = range.end();
            range = requireNonNull(file.streams.issue(stream));
        }
        file.streams.observe(at, range.end());
        file.streams.claimed(stream, range, new ByteRange(range.offset(), MIB));

        ByteRange rest = requireNonNull(file.streams.issue(stream));
        assertThat(rest.offset()).isEqualTo(range.end());
        file.streams.pause(stream, rest.offset());
        assertThat(stream.queued).isFalse();
    }

    /** Requests in an order where {@code disorder} others may overtake each, as with several threads. */
    private static List<Long> shuffled(RandomGenerator random, long from, long to, int disorder) {
        List<Long> waiting = new ArrayList<>();
        List<Long> order = new ArrayList<>();
        for (long at = from; at < to || !waiting.isEmpty(); ) {
            while (at < to && waiting.size() < disorder) {
                waiting.add(at);
                at += REQUEST;
            }
            boolean late = !order.isEmpty() && order.getLast() - waiting.getFirst() >= disorder * REQUEST;
            order.add(waiting.remove(late ? 0 : random.nextInt(waiting.size())));
        }
        return order;
    }
}
