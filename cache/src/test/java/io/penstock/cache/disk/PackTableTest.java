package io.penstock.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class PackTableTest {
    private static final int BLOCK = 4096;
    private static final int OBJECTS = 8192;

    private final PackTable table = new PackTable();
    private final Extent extent = extent();
    private final List<PackedPage> pages = IntStream.range(0, OBJECTS)
            .mapToObj(i -> page(ObjectId.random(), i))
            .toList();

    private static Extent extent() {
        ObjectExtents pack =
                new ObjectExtents(ObjectId.random(), (long) OBJECTS * BLOCK, PageGeometry.PACKS, Extent.MAX_PAGES);
        Extent extent = new Extent(pack, 0, Extent.MAX_PAGES);
        for (int page = 0; page < Extent.MAX_PAGES; page++) {
            extent.setFound(page, 0);
        }
        return extent;
    }

    private PackedPage page(ObjectId id, int place) {
        return new PackedPage(id, extent, (long) place * BLOCK, BLOCK, 0, true);
    }

    /** How many objects are examined to find that none matches. */
    private int lookedAt() {
        List<ObjectId> asked = new ArrayList<>();
        assertThat(table.hasAny(extent, id -> {
                    asked.add(id);
                    return false;
                }))
                .isFalse();
        return asked.size();
    }

    @Test
    void remove_oneByOne_boundsTheEntriesExamined() {
        pages.forEach(table::put);
        int left = OBJECTS;
        for (PackedPage page : pages) {
            assertThat(table.hasAny(extent)).isTrue();
            assertThat(table.remove(page)).isTrue();
            left--;
            if (left % 64 == 0 || left < 64) {
                assertThat(lookedAt()).isLessThanOrEqualTo(2 * left);
            }
        }
        assertThat(table.hasAny(extent)).isFalse();
        assertThat(table.size()).isZero();
    }

    @Test
    void put_inPlaceOfAnother_countsTheObjectOnce() {
        PackedPage first = pages.getFirst();
        PackedPage second = page(first.id(), 1);
        table.put(first);
        table.put(second);
        assertThat(table.size()).isOne();
        assertThat(table.find(first.id())).isSameAs(second);
        assertThat(table.remove(first)).isFalse();
        assertThat(table.hasAny(extent)).isTrue();
        assertThat(table.remove(second)).isTrue();
        assertThat(table.hasAny(extent)).isFalse();
    }

    @Test
    void removeGone_ofAPageThatIsGone_removesWhatLiesInIt() {
        pages.forEach(table::put);
        assertThat(extent.drop(0)).isTrue();
        table.removeGone(extent);
        assertThat(table.size()).isEqualTo(OBJECTS - OBJECTS / Extent.MAX_PAGES);
        table.removeAll(extent);
        assertThat(table.size()).isZero();
    }
}
