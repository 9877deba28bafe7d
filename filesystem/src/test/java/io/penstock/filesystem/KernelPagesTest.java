package io.penstock.filesystem;

import static io.penstock.filesystem.OpenFile.PageCachePolicy.BYPASS;
import static io.penstock.filesystem.OpenFile.PageCachePolicy.INVALIDATE;
import static io.penstock.filesystem.OpenFile.PageCachePolicy.KEEP;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What the kernel is told of its pages at each open. */
class KernelPagesTest {
    private static final long INODE = 7;
    private static final String OLD = "\"1\"";
    private static final String NEW = "\"2\"";

    private final KernelPages pages = new KernelPages();

    @Test
    void open_firstTime_dropsWhatMayBeThere() {
        assertThat(pages.open(INODE, OLD, null)).isEqualTo(INVALIDATE);
    }

    @Test
    void open_sameVersionAfterClose_keeps() {
        pages.open(INODE, OLD, null);
        pages.close(INODE);

        assertThat(pages.open(INODE, OLD, null)).isEqualTo(KEEP);
    }

    @Test
    void open_sameVersionBeforeTheKernelTookNoteOfTheFirst_dropsAgain() {
        pages.open(INODE, OLD, null);
        assertThat(pages.open(INODE, OLD, null)).isEqualTo(INVALIDATE);

        pages.confirm(INODE);
        assertThat(pages.open(INODE, OLD, null)).isEqualTo(KEEP);
    }

    @Test
    void open_otherVersionAfterClose_drops() {
        pages.open(INODE, OLD, null);
        pages.close(INODE);

        assertThat(pages.open(INODE, NEW, null)).isEqualTo(INVALIDATE);
        pages.close(INODE);
        assertThat(pages.open(INODE, NEW, null)).isEqualTo(KEEP);
    }

    @Test
    void open_otherVersionWhileOneIsOpen_bypassesUntilItIsClosed() {
        pages.open(INODE, OLD, null);
        pages.open(INODE, OLD, null);

        assertThat(pages.open(INODE, NEW, null)).isEqualTo(BYPASS);
        pages.close(INODE);
        assertThat(pages.open(INODE, NEW, null)).isEqualTo(BYPASS);
        assertThat(pages.open(INODE, OLD, null)).isEqualTo(KEEP);
        pages.close(INODE);
        pages.close(INODE);
        assertThat(pages.open(INODE, NEW, null)).isEqualTo(INVALIDATE);
    }

    @Test
    void open_manyOtherInodes_neverForgetsOneThatIsOpen() {
        pages.open(INODE, OLD, null);
        for (long other = 100; other < 60_000; other++) {
            pages.open(other, OLD, null);
            pages.close(other);
        }

        assertThat(pages.open(INODE, NEW, null)).isEqualTo(BYPASS);
    }
}
