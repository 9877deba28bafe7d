package io.penstock.writeback.upload;

import static io.penstock.objectstore.UploadedPart.MAX_NUMBER;
import static io.penstock.objectstore.UploadedPart.MAX_SIZE;
import static io.penstock.objectstore.UploadedPart.MIN_SIZE;
import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ByteRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PartLayoutTest {
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;
    private static final long TIB = 1L << 40;
    private static final long FIVE_TIB = 5 * TIB;
    private static final long FIFTY_TB = 50_000_000_000_000L;

    @ParameterizedTest
    @CsvSource({
        "0, 8388608, 5497558138880",
        "0, 67108864, 5497558138880",
        "0, 5368709120, 5497558138880",
        "0, 8388608, 50000000000000",
        "0, 12582912, 50000000000000",
        "10737418240, 8388608, 5497558138880",
        "10737418241, 8388608, 50000000000000",
        "1099511627776, 8388608, 5497558138880",
        "4398046511104, 8388608, 5497558138880",
        "40000000000000, 8388608, 50000000000000",
        "8388608, 8388608, 5497558138880",
        "8388607, 8388608, 5497558138880",
    })
    void of_anySizes_everyByteHasOnePartThatS3Takes(long baseSize, long partBytes, long largest) {
        PartLayout layout = PartLayout.of(baseSize, partBytes, largest);
        assertThat(layout.reach()).isGreaterThanOrEqualTo(largest);
        assertThat(layout.baseEnd()).isBetween(baseSize < 2 * BLOCK_SIZE ? 0 : baseSize - BLOCK_SIZE + 1, baseSize);
        assertThat(layout.baseParts() * MAX_SIZE).isGreaterThanOrEqualTo(layout.baseEnd());
        long position = layout.baseEnd();
        for (int number = layout.baseParts() + 1; number <= MAX_NUMBER; number++) {
            ByteRange range = layout.range(number);
            assertThat(range.offset()).isEqualTo(position);
            assertThat(range.length()).isBetween(MIN_SIZE, MAX_SIZE);
            assertThat(range.offset() % BLOCK_SIZE + range.length() % BLOCK_SIZE)
                    .isZero();
            assertThat(layout.number(range.offset())).isEqualTo(number);
            assertThat(layout.number(range.end() - 1)).isEqualTo(number);
            position = range.end();
        }
        assertThat(position).isEqualTo(layout.reach());
        assertThat(layout.number(position)).isEqualTo(MAX_NUMBER + 1);
        assertThat(layout.number(Long.MAX_VALUE - 1)).isEqualTo(MAX_NUMBER + 1);
    }

    @Test
    void of_newFile_hasTheScheduleThatIsDocumented() {
        PartLayout layout = PartLayout.of(0, 8 * MIB, FIVE_TIB);
        assertThat(layout.doubleEvery()).isEqualTo(1089);
        assertThat(layout.range(1)).isEqualTo(new ByteRange(0, 8 * MIB));
        assertThat(layout.range(1090).length()).isEqualTo(16 * MIB);
        assertThat(layout.range(layout.number(100 * GIB)).length()).isEqualTo(64 * MIB);
    }

    @Test
    void of_fiftyTerabytes_growsFaster() {
        PartLayout layout = PartLayout.of(0, 8 * MIB, FIFTY_TB);
        assertThat(layout.doubleEvery()).isBetween(10, 100);
        assertThat(layout.range(MAX_NUMBER).length()).isEqualTo(MAX_SIZE);
    }

    @Test
    void of_base_keepsNumbersForFineChanges() {
        assertThat(PartLayout.of(0, 8 * MIB, FIVE_TIB).baseParts()).isZero();
        assertThat(PartLayout.of(100 * MIB, 8 * MIB, FIVE_TIB).baseParts()).isEqualTo(20);
        assertThat(PartLayout.of(TIB, 8 * MIB, FIVE_TIB).baseParts()).isGreaterThan(4000);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 8388608",
        "1, 8388608",
        "83886080000, 8388608",
        "83886080001, 12582912",
        "50000000000000, 5003804672"
    })
    void equal_anySize_fitsInTenThousandPartsOfOneSize(long size, long partBytes) {
        PartLayout layout = PartLayout.equal(size, 8 * MIB);
        assertThat(layout.reach()).isEqualTo(MAX_NUMBER * partBytes).isGreaterThanOrEqualTo(size);
        for (int number : new int[] {1, 2, 4711, MAX_NUMBER}) {
            assertThat(layout.range(number)).isEqualTo(new ByteRange((number - 1) * partBytes, partBytes));
            assertThat(layout.number(number * partBytes - 1)).isEqualTo(number);
        }
        assertThat(layout.number(layout.reach())).isEqualTo(MAX_NUMBER + 1);
    }

    @Test
    void planned_anySize_reachesItsEndAndNoFurther() {
        PartLayout layout = PartLayout.planned(10 * MIB + 1, 8 * MIB);
        assertThat(layout.baseEnd()).isEqualTo(12 * MIB);
        assertThat(layout.reach()).isEqualTo(12 * MIB);
        assertThat(layout.number(12 * MIB)).isEqualTo(MAX_NUMBER + 1);
    }
}
