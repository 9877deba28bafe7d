package io.penstock.prefetch;

import static io.penstock.prefetch.FetcherFixture.MIB;
import static io.penstock.prefetch.FetcherFixture.readAndVerify;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.Fault;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Small files are fetched before their readers open them. */
@Timeout(60)
class DirectoryReadaheadTest {
    private static final ReadaheadConfig CONFIG = new ReadaheadConfig(8 * MIB, 8 * MIB, 8, MIB);
    private static final int FILES = 200;
    private static final int SIZE = 10_000;

    @TempDir
    private Path folder;

    private FetcherFixture fixture;
    private List<ObjectVersion> files;
    private PageFetcher fetcher;

    @BeforeEach
    void open() throws IOException {
        fixture = new FetcherFixture(folder, CONFIG, 512 * MIB, 64 * MIB);
        files = IntStream.range(0, FILES)
                .mapToObj(index -> fixture.put("d/%03d".formatted(index), SIZE))
                .toList();
        fetcher = fixture.knowing(CONFIG, key -> new FakeDirectory(files, true));
    }

    @AfterEach
    void close() {
        fetcher.close();
        fixture.close();
    }

    @Test
    void read_filesInOrder_fetchesAllOthersOnceEach() throws Exception {
        for (ObjectVersion file : files) {
            read(file);
        }
        rests();
        assertEachWasFetchedOnce();
        assertThat(fetcher.statistics().readaheadBytesUsed())
                .isBetween((long) SIZE, fetcher.statistics().readaheadBytes());
    }

    @Test
    void read_filesShuffled_fetchesAllOnceEach() throws Exception {
        List<ObjectVersion> shuffled = new ArrayList<>(files);
        Collections.shuffle(shuffled, new Random(3));
        for (ObjectVersion file : shuffled) {
            read(file);
        }
        rests();
        assertEachWasFetchedOnce();
        assertThat(fetcher.statistics().readaheadGets()).isPositive();
    }

    @Test
    void read_fewFiles_fetchesFewOthers() throws Exception {
        int read = 20;
        for (ObjectVersion file : files.subList(0, read)) {
            read(file);
        }
        rests();
        assertThat(fixture.store.gets()).hasSizeBetween(read + 1, read * (DirectoryStream.AHEAD + 1));
    }

    @Test
    void read_storeFailsReadahead_stopsUntilMoreWasRead() throws Exception {
        int read = 20;
        String failing = files.get(read).key();
        fixture.faults.always(
                call -> call instanceof Call.Get get && get.key().compareTo(failing) >= 0,
                Fault.fail(ObjectStoreException.AccessDenied::new));
        for (ObjectVersion file : files.subList(0, read)) {
            read(file);
        }
        rests();
        assertThat(fixture.store.gets().stream().filter(get -> get.key().compareTo(failing) >= 0))
                .hasSizeBetween(1, 3 * CONFIG.concurrency());
        fixture.faults.heal();
        read(files.get(read));
    }

    /** If a missing file counted as a failure, readahead would stop until enough readers had waited again. */
    @Test
    void read_someListedFilesAreGone_goesOnAheadOfReaders() throws Exception {
        List<ObjectVersion> gone =
                IntStream.range(1, 10).mapToObj(i -> files.get(20 * i)).toList();
        Set<String> keys = gone.stream().map(ObjectVersion::key).collect(Collectors.toSet());
        fixture.faults.always(
                call -> call instanceof Call.Get get && keys.contains(get.key()),
                Fault.fail(ObjectStoreException.NotFound::new));
        List<ObjectVersion> shuffled = new ArrayList<>(files);
        shuffled.removeAll(gone);
        Collections.shuffle(shuffled, new Random(4));
        for (ObjectVersion file : shuffled) {
            read(file);
            rests();
        }
        assertThat(fetcher.statistics().demandGets()).isLessThan(2 * DirectoryStream.LEAST);
        assertEachWasFetchedOnce();
    }

    @Test
    void read_readaheadTurnedOff_asksForNoListing() throws Exception {
        List<String> asked = new ArrayList<>();
        ReadaheadConfig off = new ReadaheadConfig(0, 8 * MIB, 8, MIB);
        try (PageFetcher without = fixture.knowing(off, key -> {
            asked.add(key);
            return null;
        })) {
            for (ObjectVersion file : files.subList(0, 20)) {
                read(without, file);
            }
        }
        assertThat(asked).isEmpty();
    }

    @Test
    void close_whileFetching_endsTheGets() throws Exception {
        try (PageFetcher closed = fixture.knowing(CONFIG, key -> new FakeDirectory(files, true))) {
            for (ObjectVersion file : files.subList(0, 20)) {
                read(closed, file);
            }
        }
        assertThat(fixture.store.getsInFlight()).isZero();
    }

    private void read(ObjectVersion file) throws Exception {
        read(fetcher, file);
    }

    private static void read(PageFetcher by, ObjectVersion file) throws Exception {
        try (ObjectReader reader = by.open(file)) {
            readAndVerify(reader, file, 0, SIZE);
        }
    }

    private void assertEachWasFetchedOnce() {
        assertThat(fixture.store.gets().stream().map(Call.Get::key))
                .containsExactlyInAnyOrderElementsOf(
                        files.stream().map(ObjectVersion::key).toList());
    }

    private void rests() {
        FetcherFixture.await("GETs end", () -> fetcher.running() == 0 && fetcher.openObjects() == 0);
    }
}
