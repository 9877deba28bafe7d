package io.penstock.listing;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testing.Seeded;
import java.time.Duration;
import java.time.Instant;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The age of entries that one process wrote, as the next process sees it. */
class WallTimesTest {
    private static final Instant WRITTEN = Instant.parse("2026-11-24T10:00:00.0005Z");
    private static final long MILLI = Duration.ofMillis(1).toNanos();

    /** The age that the reading process sees of an entry that had this age when it was written. */
    private static long ageWhenRead(Instant written, Duration age, Instant read) {
        RandomGenerator random = Seeded.random(read.hashCode());
        long writersNow = random.nextLong();
        WallTimes writer = new WallTimes(() -> writersNow, () -> written);
        long readersNow = random.nextLong();
        WallTimes reader = new WallTimes(() -> readersNow, () -> read);
        return readersNow - reader.nanoTime(writer.millis(writersNow - age.toNanos()), writer.millis());
    }

    @Test
    void nanoTime_inALaterProcess_isAtMostAMillisecondTooOld() {
        Seeded.check(10_000, random -> {
            Duration age = Duration.ofNanos(random.nextLong() >>> random.nextInt(3, 64));
            Duration later = Duration.ofNanos(random.nextLong() >>> random.nextInt(8, 64));
            Instant written = WRITTEN.plusNanos(random.nextLong(1_000_000_000));

            long read = ageWhenRead(written, age, written.plus(later));

            long expected = age.plus(later).toNanos();
            assertThat(read).isBetween(expected, expected + MILLI - 1);
        });
    }

    @ParameterizedTest
    @CsvSource({"PT0S, PT-0.001S", "PT1H, PT-0.001S", "PT1H, PT-1S", "PT1H, PT-2H", "PT1H, PT-400000H"})
    void nanoTime_whereTheClockWasSetBack_isTooOldForAnybody(Duration age, Duration later) {
        assertThat(ageWhenRead(WRITTEN, age, WRITTEN.plus(later))).isEqualTo(WallTimes.TOO_OLD);
    }

    @Test
    void millis_ofATimeThatIsYetToCome_isNow() {
        assertThat(ageWhenRead(WRITTEN, Duration.ofHours(-1), WRITTEN.plusSeconds(5)))
                .isBetween(
                        Duration.ofSeconds(5).toNanos(), Duration.ofSeconds(5).toNanos() + MILLI);
    }

    @Test
    void nanoTime_ofWhatIsTooOld_staysSo() {
        Duration tooOld = Duration.ofNanos(WallTimes.TOO_OLD);

        assertThat(ageWhenRead(WRITTEN, tooOld, WRITTEN.plusSeconds(5))).isEqualTo(WallTimes.TOO_OLD);
        assertThat(ageWhenRead(WRITTEN, tooOld, WRITTEN)).isBetween(WallTimes.TOO_OLD, WallTimes.TOO_OLD + MILLI);
    }

    @ParameterizedTest
    @CsvSource({
        Long.MIN_VALUE + ", 0",
        Long.MIN_VALUE + ", " + Long.MIN_VALUE,
        Long.MAX_VALUE + ", 0",
        Long.MAX_VALUE + ", " + Long.MAX_VALUE,
        "1, 0"
    })
    void nanoTime_ofWhatNobodyWrote_isTooOld(long millis, long written) {
        WallTimes reader = new WallTimes(() -> 0, () -> WRITTEN);

        assertThat(reader.nanoTime(millis, written)).isEqualTo(-WallTimes.TOO_OLD);
    }
}
