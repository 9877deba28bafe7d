package io.penstock.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DirectoryStreamTest {
    private static final int FILES = 1_000;
    private static final int SIZE = 1_000;
    private static final long MOST = 100 * SIZE;
    private static final ReadaheadConfig CONFIG = new ReadaheadConfig(1 << 20, 1 << 20, 8, 2 * SIZE);

    private final LongAdder used = new LongAdder();
    private final List<ObjectVersion> versions = new ArrayList<>(
            IntStream.range(0, FILES).mapToObj(index -> version(index, SIZE)).toList());

    @Test
    void opened_inOrder_fetchesWhatFollows() {
        DirectoryStream stream = stream(false);
        for (int index = 100; index < 100 + DirectoryStream.RUN; index++) {
            assertThat(stream.opened(versions.get(index), true)).isFalse();
        }
        int last = 100 + DirectoryStream.RUN;
        assertThat(stream.opened(versions.get(last), true)).isTrue();
        List<Integer> fetched = drain(stream);
        assertThat(fetched.getFirst()).isEqualTo(last + 1);
        assertThat(fetched)
                .hasSize(DirectoryStream.AHEAD * (DirectoryStream.RUN + 1))
                .isSorted();
    }

    @Test
    void opened_ofWhatWasFetchedAhead_goesOn() {
        DirectoryStream stream = inOrder();
        int first = drain(stream).getFirst();
        assertThat(stream.opened(versions.get(first), false)).isTrue();
        assertThat(drain(stream)).hasSize(DirectoryStream.AHEAD + 1);
        assertThat(used.sum()).isEqualTo(SIZE);
    }

    @Test
    void opened_ofAnotherVersionThanWasFetched_countsWhatWasFetched() {
        DirectoryStream stream = inOrder();
        List<Integer> fetched = drain(stream);
        fetched.forEach(index -> {
            boolean _ = stream.opened(version(index, 100 * SIZE), false);
        });
        assertThat(used.sum()).isEqualTo((long) fetched.size() * SIZE);
    }

    @Test
    void opened_farFromTheOneBefore_endsTheOrder() {
        DirectoryStream stream = inOrder();
        drain(stream);
        assertThat(stream.opened(versions.get(900), true)).isFalse();
        assertThat(stream.next()).isNull();
    }

    @Test
    void opened_atRandom_fetchesAllOnceAShareWasRead() {
        DirectoryStream stream = stream(true);
        List<ObjectVersion> shuffled = new ArrayList<>(versions);
        Collections.shuffle(shuffled, new Random(1));
        for (int read = 1; read < DirectoryStream.LEAST; read++) {
            assertThat(stream.opened(shuffled.get(read), true)).isFalse();
        }
        assertThat(stream.opened(shuffled.getFirst(), true)).isTrue();
        List<Integer> fetched = drain(stream);
        assertThat(fetched).isSorted().hasSize((int) (MOST / SIZE));
        assertThat(fetched)
                .doesNotContainAnyElementsOf(shuffled.subList(0, DirectoryStream.LEAST).stream()
                        .map(versions::indexOf)
                        .toList());
    }

    @Test
    void opened_atRandom_listingNotWhole_fetchesNothing() {
        DirectoryStream stream = stream(false);
        List<ObjectVersion> shuffled = new ArrayList<>(versions);
        Collections.shuffle(shuffled, new Random(1));
        shuffled.subList(0, 5 * DirectoryStream.LEAST)
                .forEach(file -> assertThat(stream.opened(file, true)).isFalse());
    }

    @Test
    void next_skipsLargeEmptyAndRemovedFiles() {
        int first = 100 + DirectoryStream.RUN + 1;
        versions.set(first, version(first, 3 * SIZE));
        versions.set(first + 1, version(first + 1, 0));
        FakeDirectory files = new FakeDirectory(versions, false);
        files.remove(first + 2);
        DirectoryStream stream = inOrder(new DirectoryStream(files, CONFIG, () -> MOST, used));
        assertThat(drain(stream).getFirst()).isEqualTo(first + 3);
    }

    @Test
    void pause_goesOnWithTheSameFileOnceAnotherIsRead() {
        DirectoryStream stream = inOrder();
        DirectoryStream.Next file = Objects.requireNonNull(stream.next());
        stream.pause(file);
        assertThat(stream.opened(versions.get(100), false)).isFalse(); // it was read before
        assertThat(stream.opened(versions.get(120), true)).isTrue();
        assertThat(stream.next()).isEqualTo(file);
    }

    @Test
    void failed_fetchesNothingUntilMoreWasRead() {
        DirectoryStream stream = inOrder();
        DirectoryStream.Next file = Objects.requireNonNull(stream.next());
        stream.failed(file);
        assertThat(stream.next()).isNull();
        assertThat(stream.opened(versions.get(file.index()), true)).isFalse();
    }

    @Test
    void failed_isNotFetchedAheadAgain() {
        DirectoryStream stream = inOrder();
        DirectoryStream.Next file = Objects.requireNonNull(stream.next());
        stream.failed(file);
        assertThat(stream.next()).isNull();
        for (int index = 100; index <= 100 + DirectoryStream.RUN; index++) {
            boolean _ = stream.opened(versions.get(index), true);
        }
        assertThat(drain(stream)).isNotEmpty().doesNotContain(file.index());
    }

    @Test
    void had_leavesRoomForAnother() {
        DirectoryStream stream = inOrder();
        DirectoryStream.Next file = Objects.requireNonNull(stream.next());
        stream.had(file);
        assertThat(drain(stream)).hasSize(DirectoryStream.AHEAD * (DirectoryStream.RUN + 1));
    }

    private DirectoryStream stream(boolean isWhole) {
        return new DirectoryStream(new FakeDirectory(versions, isWhole), CONFIG, () -> MOST, used);
    }

    private DirectoryStream inOrder() {
        return inOrder(stream(false));
    }

    /** Held, after the files from 100 on were read. */
    private DirectoryStream inOrder(DirectoryStream stream) {
        boolean begins = false;
        for (int index = 100; index <= 100 + DirectoryStream.RUN; index++) {
            begins = stream.opened(versions.get(index), true);
        }
        assertThat(begins).isTrue();
        return stream;
    }

    private static List<Integer> drain(DirectoryStream stream) {
        List<Integer> indexes = new ArrayList<>();
        for (DirectoryStream.Next next = stream.next(); next != null; next = stream.next()) {
            indexes.add(next.index());
        }
        return indexes;
    }

    private static ObjectVersion version(int index, long size) {
        return new ObjectVersion("d/%06d".formatted(index), "etag", size, Instant.EPOCH);
    }
}
