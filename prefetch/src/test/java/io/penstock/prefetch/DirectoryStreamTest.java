package io.penstock.prefetch;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.Urgency;
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
    private static final int WINDOW = 1 << 20;
    private static final ReadaheadConfig CONFIG = new ReadaheadConfig(WINDOW, WINDOW, 8, 2 * SIZE);

    /** So large that few files fill the window. */
    private static final int LARGE = 16 << 10;

    private final LongAdder used = new LongAdder();
    private final List<ObjectVersion> versions = versions(SIZE);
    private final List<ObjectVersion> large = versions(LARGE);

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

    /** Another program reads it: the files ahead of the reader stay ahead, and still count toward the window. */
    @Test
    void opened_oneFarAwayBetween_fetchesNoSecondWindow() {
        DirectoryStream stream = ofLarge();
        List<Integer> fetched = new ArrayList<>();
        for (int index = 0; index < 50; index++) {
            if (index == 40) {
                assertThat(stream.opened(large.get(900), true)).isFalse();
            }
            boolean _ = stream.opened(large.get(index), index <= DirectoryStream.RUN);
            fetched.addAll(drain(stream));
        }
        assertThat(fetched).doesNotHaveDuplicates().hasSizeBetween(WINDOW / LARGE, 50 + WINDOW / LARGE);
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

    /** A slow disk must not delay readers that follow closely. */
    @Test
    void next_isForTheDiskOnlyWhereFilesAreReadAtRandom() {
        assertThat(Objects.requireNonNull(inOrder().next()).urgency()).isEqualTo(Urgency.READAHEAD);

        DirectoryStream atRandom = stream(true);
        List<ObjectVersion> shuffled = new ArrayList<>(versions);
        Collections.shuffle(shuffled, new Random(1));
        shuffled.subList(0, DirectoryStream.LEAST).forEach(file -> {
            boolean _ = atRandom.opened(file, true);
        });
        assertThat(Objects.requireNonNull(atRandom.next()).urgency()).isEqualTo(Urgency.LATER);
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
        DirectoryStream stream = inOrder(new DirectoryStream(files, () -> CONFIG, () -> MOST, used));
        assertThat(drain(stream).getFirst()).isEqualTo(first + 3);
    }

    @Test
    void pause_goesOnWithTheSameFileOnceAnotherIsRead() {
        DirectoryStream stream = inOrder();
        DirectoryStream.Next file = Objects.requireNonNull(stream.next());
        stream.pause(file);
        assertThat(stream.opened(versions.get(100), false)).isFalse(); // already read
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

    @Test
    void epoch_inOrderAfterFilesWereEvicted_fetchesWhatFollows() {
        DirectoryStream stream = stream(true);
        readAll(stream, versions);
        for (int index = 0; index < DirectoryStream.RUN; index++) {
            assertThat(stream.opened(versions.get(index), true)).isFalse();
        }
        assertThat(stream.opened(versions.get(DirectoryStream.RUN), true)).isTrue();
        assertThat(drain(stream)).startsWith(DirectoryStream.RUN + 1, DirectoryStream.RUN + 2);
    }

    @Test
    void epoch_inTheOrderOfTheOneBefore_fetchesWhatFollowed() {
        DirectoryStream stream = stream(true);
        List<ObjectVersion> shuffled = shuffled(1);
        readAll(stream, shuffled);
        int read = readUntilItBegins(stream, shuffled);
        assertThat(read).isEqualTo(DirectoryStream.REPEATED_RUN + 1);
        assertThat(stream.next())
                .extracting(DirectoryStream.Next::index, DirectoryStream.Next::why)
                .containsExactly(versions.indexOf(shuffled.get(read)), FetchedAhead.EPOCH_ORDER);
        assertThat(drain(stream)).hasSizeGreaterThan(100).startsWith(versions.indexOf(shuffled.get(read + 1)));
    }

    @Test
    void epoch_largePartOfTheDirectoryInOrder_fetchesWhatFollowed() {
        DirectoryStream stream = stream(true);
        List<ObjectVersion> part = shuffled(1).subList(0, 600);
        readAll(stream, part);
        int read = readUntilItBegins(stream, part);
        assertThat(read).isEqualTo(ReadOrder.AGAIN + DirectoryStream.REPEATED_RUN);
        assertThat(drain(stream)).startsWith(versions.indexOf(part.get(read)));
    }

    @Test
    void epoch_byWorkersThatEachTakeABatch_fetchesWhatFollowed() {
        int batch = 16;
        int workers = 4;
        DirectoryStream stream = stream(true);
        List<ObjectVersion> shuffled = shuffled(1);
        readAll(stream, shuffled);
        List<ObjectVersion> turns = new ArrayList<>();
        for (int at = 0; at + batch * workers <= FILES; at += batch * workers) {
            for (int i = 0; i < batch; i++) {
                for (int worker = 0; worker < workers; worker++) {
                    turns.add(shuffled.get(at + worker * batch + i));
                }
            }
        }
        int read = readUntilItBegins(stream, turns);
        assertThat(read).isLessThan(2 * DirectoryStream.LEAST);
        List<Integer> fetched = drain(stream);
        assertThat(shuffled.subList(Math.max(0, read - batch * workers), read + 200))
                .containsAll(fetched.stream().limit(100).map(versions::get).toList());
    }

    /** Files that are never read must not use up the limit. */
    @Test
    void epochs_ofMostFiles_eachInAnotherOrder_fetchWhatIsRead() {
        DirectoryStream stream = stream(true);
        List<ObjectVersion> nine = new ArrayList<>(shuffled(1).subList(0, FILES * 9 / 10));
        for (int epoch = 0; epoch < 5; epoch++) {
            readAll(stream, nine);
            Collections.shuffle(nine, new Random(2 + epoch));
        }
        int read = readUntilItBegins(stream, nine);
        assertThat(read).isLessThan(2 * DirectoryStream.LEAST);
        List<Integer> fetched = drain(stream);
        assertThat(fetched).hasSize((int) (MOST / SIZE));
        assertThat(fetched.stream().map(versions::get).filter(nine::contains)).hasSizeGreaterThan(fetched.size() / 2);
    }

    @Test
    void epochs_ofMostFiles_inOneOrder_fetchNothingElseAfterTheFirst() {
        DirectoryStream stream = stream(true);
        List<ObjectVersion> nine = shuffled(1).subList(0, FILES * 9 / 10);
        readAll(stream, nine);
        for (int epoch = 2; epoch <= 5; epoch++) {
            List<ObjectVersion> fetched =
                    readAll(stream, nine).stream().map(versions::get).toList();
            assertThat(fetched).as("epoch %s", epoch).hasSizeGreaterThan(FILES / 2);
            assertThat(nine).as("epoch %s", epoch).containsAll(fetched);
        }
    }

    @Test
    void opened_everyThirdFileInOrder_goesOn() {
        List<ObjectVersion> thirds = IntStream.range(0, FILES)
                .filter(index -> index % 3 == 0)
                .mapToObj(large::get)
                .toList();
        assertThat(readAll(ofLarge(), thirds)).hasSizeGreaterThan(FILES / 2);
    }

    @Test
    void epoch_ofEverySecondFileInTheOrderOfTheOneBefore_goesOn() {
        DirectoryStream stream = ofLarge();
        List<ObjectVersion> shuffled = shuffled(large, 1);
        readAll(stream, shuffled);
        List<ObjectVersion> seconds = IntStream.range(0, FILES)
                .filter(place -> place % 2 == 0)
                .mapToObj(shuffled::get)
                .toList();
        assertThat(readAll(stream, seconds)).hasSizeGreaterThan(FILES / 2);
    }

    /** The files already fetched in name order fill the window. */
    @Test
    void epoch_inOrderThenRepeatingTheLast_fetchesAWindowOfThat() {
        DirectoryStream stream = ofLarge();
        List<ObjectVersion> shuffled = shuffled(large, 1);
        readAll(stream, shuffled);
        assertThat(readAll(stream, large.subList(0, 10))).hasSizeGreaterThan(WINDOW / LARGE);
        assertThat(readAll(stream, shuffled.subList(0, 30))).hasSizeGreaterThan(WINDOW / LARGE);
    }

    @Test
    void epoch_inAnotherOrder_fetchesNothingByTheOldOne() {
        DirectoryStream stream = stream(true);
        readAll(stream, shuffled(1));
        List<ObjectVersion> other = shuffled(2);
        int read = readUntilItBegins(stream, other);
        assertThat(read).isEqualTo(DirectoryStream.LEAST);
        assertThat(drain(stream)).isSorted(); // as in the first epoch
    }

    @Test
    void epoch_thatTheCacheHas_fetchesNothing() {
        DirectoryStream stream = stream(true);
        List<ObjectVersion> shuffled = shuffled(1);
        readAll(stream, shuffled);
        for (List<ObjectVersion> order : List.of(versions, shuffled, shuffled(2))) {
            order.forEach(file -> assertThat(stream.opened(file, false)).isFalse());
        }
    }

    @Test
    void epoch_ofTwiceTheCache_fetchesWhatIsMissing() {
        DirectoryStream stream = stream(true);
        List<ObjectVersion> shuffled = shuffled(1);
        readAll(stream, shuffled);
        boolean begins = false;
        int read = 0;
        while (!begins) {
            begins = stream.opened(shuffled.get(read), read % 2 == 0);
            read++;
        }
        for (DirectoryStream.Next next = stream.next(); next != null; next = stream.next()) {
            if (shuffled.indexOf(next.version()) % 2 == 1) {
                stream.had(next);
            } else {
                assertThat(next.version()).isEqualTo(shuffled.get(next.place()));
            }
        }
        int ahead = DirectoryStream.AHEAD * (FILES + read);
        assertThat(ahead).isGreaterThan(FILES); // all of it is fetched ahead
        for (ObjectVersion file : shuffled.subList(read, FILES)) {
            assertThat(stream.opened(file, false)).isFalse();
        }
    }

    private List<ObjectVersion> shuffled(long seed) {
        return shuffled(versions, seed);
    }

    private static List<ObjectVersion> shuffled(List<ObjectVersion> files, long seed) {
        List<ObjectVersion> shuffled = new ArrayList<>(files);
        Collections.shuffle(shuffled, new Random(seed));
        return shuffled;
    }

    /** Reads an epoch in which every file is waited for or fetched ahead. Returns the fetched files. */
    private static List<Integer> readAll(DirectoryStream stream, List<ObjectVersion> order) {
        List<Integer> fetched = new ArrayList<>();
        for (ObjectVersion file : order) {
            if (stream.opened(file, true)) {
                fetched.addAll(drain(stream));
            }
        }
        return fetched;
    }

    /** Reads cold files until some are fetched ahead. Returns the number of files read. */
    private static int readUntilItBegins(DirectoryStream stream, List<ObjectVersion> order) {
        for (int read = 0; read < order.size(); read++) {
            if (stream.opened(order.get(read), true)) {
                return read + 1;
            }
        }
        throw new AssertionError("nothing is fetched ahead");
    }

    private DirectoryStream stream(boolean isWhole) {
        return new DirectoryStream(new FakeDirectory(versions, isWhole), () -> CONFIG, () -> MOST, used);
    }

    private DirectoryStream ofLarge() {
        ReadaheadConfig config = new ReadaheadConfig(WINDOW, WINDOW, 8, LARGE);
        return new DirectoryStream(new FakeDirectory(large, true), () -> config, () -> MOST, used);
    }

    private DirectoryStream inOrder() {
        return inOrder(stream(false));
    }

    /** Holds the stream, after files from 100 on were read. */
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

    private static List<ObjectVersion> versions(long size) {
        return new ArrayList<>(IntStream.range(0, FILES)
                .mapToObj(index -> version(index, size))
                .toList());
    }

    private static ObjectVersion version(int index, long size) {
        return new ObjectVersion("d/%06d".formatted(index), "etag", size, Instant.EPOCH);
    }
}
