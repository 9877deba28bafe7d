package io.penstock.listing;

import static io.penstock.listing.RangeListing.bucketOf;
import static io.penstock.listing.RangeListing.lister;
import static io.penstock.listing.RangeListing.mostRequests;
import static io.penstock.listing.RangeListing.shown;
import static io.penstock.listing.RangeListing.start;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.listing.RangeListing.Collected;
import io.penstock.testing.KeySets;
import io.penstock.testing.Seeded;
import io.penstock.testing.SmallPages;
import java.util.List;
import java.util.NavigableSet;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The number of rounds that a listing of 100 pages takes with 16 concurrent requests; one round completes all requests
 * in flight. One page after another takes 100; with all ranges known in advance it would be 7; it is about 10, because
 * there is one request at first.
 */
@Timeout(60)
class RangeListerRoundsTest {
    private static final int CONCURRENCY = 16;

    @ParameterizedTest
    @CsvSource({
        "NUMBERED, 18",
        "NUMBERED_WITHOUT_ZEROS, 20",
        "HASHED, 16",
        "UUIDS, 16",
        "BASE64, 24",
        "FOLDERS, 22",
        "SMALL_FOLDERS, 20",
        "DEEP, 24",
        "LONG_COMMON_PREFIX, 20",
        "WORDS, 24",
        "SKEWED, 20",
        "CHINESE, 50",
    })
    void list_100Pages_takesFewRounds(KeySets set, int most) throws Exception {
        assertThat(rounds(set, "", 10_000, 100)).isLessThanOrEqualTo(most);
    }

    @Test
    void list_folderOf10000Folders_takesFewRounds() throws Exception {
        assertThat(rounds(KeySets.SMALL_FOLDERS, "/", 70_000, 100)).isLessThanOrEqualTo(20);
    }

    private static int rounds(KeySets set, String delimiter, int count, int pageSize) throws Exception {
        NavigableSet<String> keys = set.keys(count, Seeded.random(1));
        List<String> expected = shown(keys, "", delimiter);
        LockStep steps = new LockStep();
        RangeLister<Collected> lister =
                lister(new SmallPages(bucketOf(keys), pageSize), "", delimiter, CONCURRENCY, steps);
        CompletableFuture<List<String>> listing = start(lister);
        int rounds = steps.rounds(listing);
        assertThat(listing.get()).isEqualTo(expected);
        System.out.printf("%s: %d names, %d requests, %d rounds%n", set, expected.size(), lister.requests(), rounds);
        assertThat(lister.requests()).isLessThanOrEqualTo(mostRequests(expected.size(), pageSize, CONCURRENCY));
        return rounds;
    }
}
