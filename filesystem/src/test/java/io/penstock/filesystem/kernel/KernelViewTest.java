package io.penstock.filesystem.kernel;

import static io.penstock.filesystem.kernel.OpenFile.PageCachePolicy.BYPASS;
import static io.penstock.filesystem.kernel.OpenFile.PageCachePolicy.INVALIDATE;
import static io.penstock.filesystem.kernel.OpenFile.PageCachePolicy.KEEP;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.kernel.KernelView.Fit;
import io.penstock.filesystem.kernel.OpenFile.PageCachePolicy;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Node;
import io.penstock.objectstore.StoredObject;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** The notices to the kernel about its pages at each open. */
class KernelViewTest {
    private static final KernelContent OLD = new KernelContent.Version("\"1\"", 1, 0);
    private static final ObjectVersion VERSION = new ObjectVersion("a", "\"3\"", 1, Instant.EPOCH);
    private static final KernelContent NEW = new KernelContent.Version("\"2\"", 1, 0);

    private final Directory root = new Directory("");
    private final InodeTable inodes = new InodeTable(root);
    private final Kernels kernels = new Kernels(inodes);
    private final KernelView view = new KernelView(inodes, kernels, false);
    private final Inode inode = inodes.acquireFile(root, "a");

    private PageCachePolicy open(KernelContent content) {
        return requireNonNull(view.open(inode, content, null)).policy();
    }

    private void close() {
        BackingFile _ = view.close(inode);
    }

    @Test
    void open_firstTime_dropsWhatMayBeThere() {
        assertThat(open(OLD)).isEqualTo(INVALIDATE);
    }

    @Test
    void open_sameVersionAfterClose_keeps() {
        open(OLD);
        close();

        assertThat(open(OLD)).isEqualTo(KEEP);
    }

    @Test
    void open_sameVersionBeforeTheKernelTookNoteOfTheFirst_dropsAgain() {
        open(OLD);
        assertThat(open(OLD)).isEqualTo(INVALIDATE);

        view.read(inode);
        assertThat(open(OLD)).isEqualTo(KEEP);
    }

    @Test
    void open_otherVersionAfterClose_drops() {
        open(OLD);
        close();

        assertThat(open(NEW)).isEqualTo(INVALIDATE);
        close();
        assertThat(open(NEW)).isEqualTo(KEEP);
    }

    @Test
    void open_otherVersionWhileOneIsOpen_bypassesUntilItIsClosed() {
        open(OLD);
        open(OLD);

        assertThat(open(NEW)).isEqualTo(BYPASS);
        close();
        assertThat(open(NEW)).isEqualTo(BYPASS);
        assertThat(open(OLD)).isEqualTo(KEEP);
        close();
        close();
        assertThat(open(NEW)).isEqualTo(INVALIDATE);
    }

    @Test
    void open_ofWhatIsWrittenAndThenCommitted_keeps() {
        KernelContent written = new KernelContent.Written(1);
        open(OLD);
        view.becomes(inode, OLD, written);
        assertThat(open(written)).isEqualTo(INVALIDATE);
        close();
        close();

        view.becomes(inode, written, NEW);

        assertThat(open(NEW)).isEqualTo(KEEP);
        close();
        assertThat(open(OLD)).isEqualTo(INVALIDATE);
    }

    @Test
    void open_afterALookupOfAnotherVersion_drops() {
        open(OLD);
        close();

        view.lookedUp(inode, new FileEntry(new StoredObject(VERSION, "STANDARD")));

        assertThat(open(OLD)).isEqualTo(INVALIDATE);
    }

    @Test
    void fit_ofAnotherVersion_isTheSameUntilAKernelGoesByInode() {
        Node node = new FileEntry(new StoredObject(VERSION, "STANDARD"));
        open(OLD);
        assertThat(view.fit(inode, node)).isEqualTo(Fit.SAME);

        kernels.add(new NotifiedKernel());
        assertThat(view.fit(inode, node)).isEqualTo(Fit.ANOTHER);
        close();
        assertThat(view.fit(inode, node)).isEqualTo(Fit.OUTDATED);
        view.lookedUp(inode, node);
        assertThat(view.fit(inode, node)).isEqualTo(Fit.SAME);
    }
}
