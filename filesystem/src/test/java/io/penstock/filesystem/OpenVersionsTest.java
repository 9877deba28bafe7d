package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.O_TRUNC;
import static io.penstock.filesystem.Mounted.O_WRONLY;
import static io.penstock.filesystem.Mounted.assertErrno;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.Errno;
import io.penstock.filesystem.kernel.NotifiedKernel;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.filesystem.kernel.OpenFile.PageCachePolicy;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A kernel that knows files by inode: an inode that it has open stays one version, even if its name changes. */
class OpenVersionsTest extends OverWritableMount {
    private final NotifiedKernel kernel = new NotifiedKernel();

    @BeforeEach
    void makeObject() {
        m.fs.addListener(kernel);
        m.bucket.put("a", "long and old");
    }

    @Test
    void getattr_replacedByAShorterOneWhileOpen_showsWhatIsOpen() throws Exception {
        long inode = m.lookup("a").inode();
        OpenFile old = m.open("a");
        replace("new");

        assertThat(m.fs.getattr(inode).size())
                .as("or the kernel would cut the reader off")
                .isEqualTo(12);
        assertThat(m.fs.getattrNow(inode))
                .isNotNull()
                .extracting(Attributes::size)
                .isEqualTo(12L);
        m.fs.release(old.handle());
        assertThat(m.fs.getattr(inode).size()).isEqualTo(3);
    }

    @Test
    void lookup_replacedWhileOpen_isAnotherInode() throws Exception {
        long inode = m.lookup("a").inode();
        OpenFile old = m.open("a");
        replace("new");

        Attributes found = m.lookup("a");

        assertThat(found.inode()).isNotEqualTo(inode);
        assertThat(found.size()).isEqualTo(3);
        OpenFile current = m.fs.open(found.inode(), 0);
        assertThat(current.pageCache()).isEqualTo(PageCachePolicy.INVALIDATE);
        assertThat(m.read(current)).isEqualTo("new");
        m.fs.release(current.handle());
        m.fs.release(old.handle());
    }

    @Test
    void open_replacedWhileOpen_isEstaleSoThatTheKernelLooksAgain() throws Exception {
        long inode = m.lookup("a").inode();
        OpenFile old = m.open("a");
        replace("new");

        assertErrno(Errno.ESTALE, () -> m.fs.open(inode, 0));
        assertErrno(Errno.ESTALE, () -> m.fs.open(inode, O_WRONLY));

        assertThat(m.cat("a")).isEqualTo("new");
        m.fs.release(old.handle());
    }

    @Test
    void open_replacedBeforeTheNotice_isEstaleUntilTheNewSize() throws Exception {
        long inode = m.lookup("a").inode();
        m.bucket.put("a", "new");
        m.ls(FileSystem.ROOT, 10);
        assertThat(kernel.drain()).as("told, but late").containsExactly("inode " + inode + " and its pages");

        assertErrno(Errno.ESTALE, () -> m.fs.openNow(inode, 0, null));
        assertErrno(Errno.ESTALE, () -> m.fs.open(inode, 0));
        assertErrno(Errno.ESTALE, () -> m.fs.open(inode, O_WRONLY));

        Attributes found = m.lookup("a");
        assertThat(found.inode()).isEqualTo(inode);
        assertThat(found.size()).isEqualTo(3);
        OpenFile file = m.fs.open(inode, 0);
        assertThat(m.read(file)).isEqualTo("new");
        m.fs.release(file.handle());
    }

    @Test
    void open_writtenHere_needsNoLookup() throws Exception {
        CreatedFile created = m.fs.create(FileSystem.ROOT, "new", 0644, Mounted.CREATOR, O_WRONLY);
        long inode = created.attributes().inode();
        m.write(created.open(), 0, "1");
        m.close(created.open());
        m.fs.rename(FileSystem.ROOT, "new", FileSystem.ROOT, "newer", 0);

        OpenFile file = m.fs.open(inode, 0);

        assertThat(m.read(file)).isEqualTo("1");
        m.fs.release(file.handle());
        m.fs.forget(inode, 1);
    }

    @Test
    void getattr_deletedInTheBucketWhileOpen_showsWhatIsOpen() throws Exception {
        long inode = m.lookup("a").inode();
        OpenFile old = m.open("a");
        m.bucket.delete("a");
        m.clock.advance(Mounted.TTL);

        assertThat(m.fs.getattr(inode).size()).isEqualTo(12);
        assertThat(m.fs.getattrNow(inode))
                .isNotNull()
                .extracting(Attributes::size)
                .isEqualTo(12L);
        m.fs.release(old.handle());
        assertErrno(Errno.ESTALE, () -> m.fs.getattr(inode));
    }

    /** Once they have expired, the kernel asks for attributes before each read(2). */
    @Test
    void getattr_whileOpen_asksNothingOnceTheTimeIsOver() throws Exception {
        long inode = m.lookup("a").inode();
        OpenFile open = m.open("a");
        assertThat(m.read(open)).isEqualTo("long and old");
        m.clock.advance(Mounted.TTL);
        m.drainCalls();

        Attributes shown = m.fs.getattrNow(inode);

        assertThat(shown).isNotNull().extracting(Attributes::size).isEqualTo(12L);
        assertThat(shown).extracting(Attributes::validNanos).isEqualTo(Mounted.TTL.toNanos());
        assertThat(m.fs.getattr(inode)).isEqualTo(shown);
        assertThat(m.read(open)).isEqualTo("long and old");
        assertThat(m.drainCalls()).isEmpty();
        m.fs.release(open.handle());
    }

    @Test
    void getattr_writtenHereWhileOpen_showsWhatIsWritten() throws Exception {
        long inode = m.lookup("a").inode();
        OpenFile reader = m.open("a");
        OpenFile writer = m.open("a", O_WRONLY);
        m.write(writer, 12, " and longer");

        assertThat(m.fs.getattr(inode).size()).isEqualTo(23);
        m.close(writer);
        assertThat(m.fs.getattr(inode).size()).isEqualTo(23);
        assertThat(m.lookup("a").inode()).isEqualTo(inode);
        assertThat(m.read(reader)).isEqualTo("long and old and longer");
        m.fs.release(reader.handle());
    }

    @Test
    void open_replacedVersionIsWritten_isEstaleUnderTheOldInode() throws Exception {
        long inode = m.lookup("a").inode();
        OpenFile old = m.open("a");
        replace("new");
        OpenFile writer = m.open("a", O_WRONLY);
        m.write(writer, 0, "N");

        assertErrno(Errno.ESTALE, () -> m.fs.open(inode, 0));
        assertThat(m.fs.getattr(inode).size()).isEqualTo(12);

        m.close(writer);
        m.fs.release(old.handle());
        assertThat(m.cat("a")).isEqualTo("New");
    }

    @Test
    void create_whereSomebodyElseHasDeletedWhatIsOpen_isAnotherInode() throws Exception {
        long inode = m.lookup("a").inode();
        OpenFile old = m.open("a");
        m.bucket.delete("a");
        m.clock.advance(Mounted.TTL);

        CreatedFile created = m.fs.create(FileSystem.ROOT, "a", 0644, Mounted.CREATOR, O_WRONLY);

        assertThat(created.attributes().inode()).isNotEqualTo(inode);
        assertThat(created.open().pageCache()).isEqualTo(PageCachePolicy.INVALIDATE);
        assertThat(m.fs.getattr(inode).size()).isEqualTo(12);
        m.close(created.open());
        m.fs.forget(created.attributes().inode(), 1);
        m.fs.release(old.handle());
    }

    @Test
    void open_writtenUnderAnInodeThatItsNameHasLost_isThatInodeAgain() throws Exception {
        long inode = m.lookup("a").inode();
        OpenFile old = m.open("a");
        replace("new");
        long other = m.lookup("a").inode();
        m.fs.release(old.handle());

        m.fs.getattr(inode); // as by a path walk in progress
        OpenFile writer = m.fs.open(inode, O_WRONLY);
        assertThat(other).isNotEqualTo(inode);
        assertThat(m.lookup("a").inode()).isEqualTo(inode);
        assertThat(m.cat("a")).isEqualTo("new");
        m.unlink("a");

        assertErrno(Errno.ENOENT, () -> m.lookup("a"));
        m.close(writer);
        m.drain();
        assertThat(m.stored("a")).isNull();
    }

    @Test
    void close_replacedMeanwhileByALonger_dropsTheLostSize() throws Exception {
        long inode = m.lookup("a").inode();
        OpenFile writer = m.open("a", O_WRONLY | O_TRUNC);
        m.write(writer, 0, "mine");
        assertThat(m.fs.getattr(inode).size()).isEqualTo(4);
        m.bucket.put("a", "theirs, and longer");

        assertErrno(Errno.ESTALE, () -> m.close(writer));
        m.drain();

        assertThat(kernel.drain()).contains("inode " + inode + " and its pages");
        assertThat(m.fs.getattr(inode).size()).isEqualTo(18);
    }

    @Test
    void close_createdElsewhereMeanwhile_dropsTheLostSize() throws Exception {
        CreatedFile created = m.fs.create(FileSystem.ROOT, "new", 0644, Mounted.CREATOR, O_WRONLY);
        long inode = created.attributes().inode();
        m.write(created.open(), 0, "mine");
        m.bucket.put("new", "theirs, and longer");

        assertErrno(Errno.ESTALE, () -> m.close(created.open()));
        m.drain();

        assertThat(kernel.drain()).contains("inode " + inode + " and its pages");
        m.fs.forget(inode, 1);
    }

    private void replace(String content) {
        m.bucket.put("a", content);
        m.clock.advance(Mounted.TTL);
    }
}
