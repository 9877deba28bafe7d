package io.penstock.prefetch;

import static io.penstock.prefetch.RunningStreams.IDLE_NANOS;
import static io.penstock.prefetch.RunningStreams.LEAST_SHARE;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** How the streams of a mount share the memory for readahead. */
final class RunningStreamsTest {
    private static final long MIB = 1 << 20;
    private static final long GIB = 1 << 30;
    private static final ReadaheadConfig CONFIG = new ReadaheadConfig(128 * MIB, 8 * MIB, 64, 0);

    private final AtomicLong nanos = new AtomicLong();
    private final AtomicLong memory = new AtomicLong(256 * MIB);
    private final RunningStreams running = new RunningStreams(memory::get, nanos::get);

    private StreamsModel open() {
        return new StreamsModel(CONFIG, 4 * GIB, running);
    }

    private static void read(StreamsModel file, long from, long to) {
        for (long at = from; at < to; at += MIB) {
            file.read(at, MIB);
        }
    }

    /** Bytes fetched beyond those read. */
    private static long ahead(StreamsModel file) {
        return file.untouched() * MIB;
    }

    @Test
    void window_oneStream_isTheConfigured() {
        StreamsModel file = open();
        read(file, 0, 512 * MIB);
        assertThat(ahead(file)).isBetween(120 * MIB, 128 * MIB);
    }

    @Test
    void window_whereThereTurnsOutToBeLessMemory_shrinks() {
        StreamsModel file = open();
        read(file, 0, 256 * MIB);
        memory.set(32 * MIB);
        read(file, 256 * MIB, 512 * MIB);
        assertThat(ahead(file)).isBetween(16 * MIB, 32 * MIB);
    }

    @Test
    void windows_eightStreamsInTurn_fitIntoTheMemoryTogether() {
        StreamsModel file = open();
        for (long at = 0; at < 256 * MIB; at += MIB) {
            for (long stream = 0; stream < 8; stream++) {
                read(file, stream * 512 * MIB + at, stream * 512 * MIB + at + MIB);
            }
        }
        assertThat(ahead(file)).isBetween(8 * 24 * MIB, 256 * MIB);
    }

    @Test
    void windows_manyFiles_eachHasTheNextPage() {
        List<StreamsModel> files = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            files.add(open());
        }
        for (long at = 0; at < 64 * MIB; at += MIB) {
            for (StreamsModel file : files) {
                read(file, at, at + MIB);
            }
        }
        assertThat(files).allSatisfy(file -> assertThat(ahead(file)).isBetween(MIB, LEAST_SHARE));
    }

    @Test
    void window_othersHaveEndedOrAreClosedOrIdle_isTheConfiguredAgain() {
        List<StreamsModel> others = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            others.add(open());
            read(others.get(i), 0, 64 * MIB);
        }
        StreamsModel file = open();
        read(file, 0, 512 * MIB);
        assertThat(ahead(file)).isLessThanOrEqualTo(64 * MIB);

        others.get(0).streams.close();
        read(others.get(1), 64 * MIB, 4 * GIB);
        nanos.addAndGet(IDLE_NANOS + 1);
        read(file, 512 * MIB, GIB);

        assertThat(ahead(file)).isBetween(120 * MIB, 128 * MIB);
    }
}
