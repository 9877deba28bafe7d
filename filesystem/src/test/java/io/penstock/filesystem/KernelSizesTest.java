package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.assertErrno;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.Errno;
import io.penstock.filesystem.kernel.NotifiedKernel;
import io.penstock.filesystem.kernel.OpenFile;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where the kernel keeps the sizes of its inodes, another version of an object must get another inode. */
class KernelSizesTest extends OverOneCache {
    @TempDir
    private Path staging;

    private Mounted m;

    @BeforeEach
    void mount() {
        m = Mounted.writtenBack(cache, staging);
    }

    @AfterEach
    void unmount() {
        m.close();
    }

    private void change(String key, String content) {
        m.bucket.put(key, content);
        m.clock.advance(Mounted.TTL);
    }

    @Test
    void lookup_theSameVersion_isTheSameInode() throws Exception {
        change("a", "old");
        long inode = m.lookup("a").inode();
        m.clock.advance(Mounted.TTL);

        assertThat(m.lookup("a").inode()).isEqualTo(inode);
        assertThat(m.cat("a")).isEqualTo("old");
        m.clock.advance(Mounted.TTL);
        assertThat(m.lookup("a").inode()).isEqualTo(inode);
    }

    @Test
    void lookup_anotherVersion_isAnotherInode() throws Exception {
        change("a", "old");
        long inode = m.lookup("a").inode();
        change("a", "newer");

        Attributes found = m.lookup("a");

        assertThat(found.inode()).isNotEqualTo(inode);
        assertThat(found.size()).isEqualTo(5);
    }

    @Test
    void lookup_anotherVersionThatGetattrHasSeen_isAnotherInode() throws Exception {
        change("a", "old");
        long inode = m.lookup("a").inode();
        change("a", "newer");

        assertThat(m.fs.getattr(inode).size()).as("which the kernel ignores").isEqualTo(5);

        assertThat(m.lookup("a").inode()).isNotEqualTo(inode);
    }

    @Test
    void lookup_writtenHere_isTheSameInodeUntilWrittenElsewhere() throws Exception {
        m.save("a", "written here");
        long inode = m.lookup("a").inode();
        OpenFile open = m.open("a", Mounted.O_WRONLY);
        m.write(open, 0, "WRITTEN");
        assertThat(m.lookup("a").inode()).as("while it is written").isEqualTo(inode);
        m.close(open);
        m.clock.advance(Mounted.TTL);
        assertThat(m.lookup("a").inode()).as("committed").isEqualTo(inode);

        change("a", "theirs");

        assertThat(m.lookup("a").inode()).isNotEqualTo(inode);
        assertThat(m.cat("a")).isEqualTo("theirs");
    }

    @Test
    void open_inodeOfAnotherVersion_isEstale() throws Exception {
        change("a", "old");
        long inode = m.lookup("a").inode();
        change("a", "newer");

        assertErrno(Errno.ESTALE, () -> m.fs.open(inode, 0));
        assertErrno(Errno.ESTALE, () -> m.fs.open(inode, Mounted.O_WRONLY));

        assertThat(m.lookup("a").inode()).isNotEqualTo(inode);
        assertThat(m.cat("a")).isEqualTo("newer");
    }

    @Test
    void create_whereSomebodyElseHasDeletedWhatWasOpen_isAnotherInode() throws Exception {
        change("a", "old");
        OpenFile old = m.open("a");
        long inode = m.fs.inodeOf(old.handle());
        m.bucket.delete("a");
        m.clock.advance(Mounted.TTL);

        CreatedFile created = m.fs.create(FileSystem.ROOT, "a", 0644, Mounted.CREATOR, Mounted.O_WRONLY);

        assertThat(created.attributes().inode()).isNotEqualTo(inode);
        m.close(created.open());
        m.fs.forget(created.attributes().inode(), 1);
        m.fs.release(old.handle());
    }

    @Test
    void lookup_aVersionThatIsThereAgain_isWhatTheKernelWasShownLast() throws Exception {
        change("a", "old");
        long inode = m.fs.lookup(FileSystem.ROOT, "a").inode();
        OpenFile open = m.fs.open(inode, 0);
        m.fs.release(open.handle());
        m.fs.forget(inode, 1);
        change("a", "newer");
        long revived = m.lookup("a").inode();
        change("a", "old");

        assertThat(m.lookup("a").inode()).isNotEqualTo(revived);
    }

    @Test
    void rename_ofWhatWasOnlyLookedUp_keepsItsInode() throws Exception {
        change("a", "content");
        long inode = m.lookup("a").inode();

        m.fs.rename(FileSystem.ROOT, "a", FileSystem.ROOT, "b", 0);

        assertThat(m.lookup("b").inode()).isEqualTo(inode);
        assertThat(m.cat("b")).isEqualTo("content");
    }

    @Test
    void create_whereSomebodyElseHasAnotherVersion_opensAnotherInode() throws Exception {
        change("a", "old");
        long inode = m.lookup("a").inode();
        change("a", "newer");

        m.close(m.create("a", Mounted.O_WRONLY));

        assertThat(m.lookup("a").inode()).isNotEqualTo(inode);
    }

    @Test
    void listing_ofAnotherVersion_dropsInodeAndName() throws Exception {
        NotifiedKernel kernel = new NotifiedKernel();
        m.fs.addListener(kernel);
        m.bucket.put("a", "1");
        long a = m.lookup("a").inode();
        m.bucket.put("a", "22");

        m.ls(FileSystem.ROOT, 10);

        assertThat(kernel.drain()).containsExactly("inode " + a + " and its pages", "name 1/a");
    }
}
