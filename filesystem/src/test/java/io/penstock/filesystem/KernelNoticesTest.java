package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.assertErrno;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.Errno;
import io.penstock.filesystem.kernel.NotifiedKernel;
import io.penstock.filesystem.kernel.OpenFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class KernelNoticesTest extends OverOneCache {
    private final NotifiedKernel kernel = new NotifiedKernel();
    private Mounted m;

    @BeforeEach
    void mount() {
        m = new Mounted(cache);
        m.fs.addListener(kernel);
    }

    @AfterEach
    void unmount() {
        m.close();
    }

    @Test
    void lookups_thatSeeTheSame_tellNothing() throws Exception {
        m.bucket.put("d/a", "1");
        m.lookup("d/a");
        m.clock.advance(Mounted.TTL);
        m.lookup("d/a");
        m.ls(m.lookup("d").inode(), 10);

        assertThat(kernel.drain()).isEmpty();
    }

    @Test
    void listing_ofAnotherVersion_dropsTheInodeOnce() throws Exception {
        m.bucket.put("a", "1");
        long a = m.lookup("a").inode();
        m.bucket.put("a", "22");

        m.ls(FileSystem.ROOT, 10);

        assertThat(kernel.drain()).containsExactly("inode " + a + " and its pages");
        m.clock.advance(Mounted.TTL);
        m.ls(FileSystem.ROOT, 10);
        assertThat(kernel.drain()).as("what is not believed any more").isEmpty();
    }

    @Test
    void getattr_thatFindsItGone_dropsInodeAndName() throws Exception {
        m.bucket.put("a", "1");
        long a = m.lookup("a").inode();
        m.bucket.delete("a");
        m.clock.advance(Mounted.TTL);

        assertErrno(Errno.ESTALE, () -> m.fs.getattr(a));

        assertThat(kernel.drain()).containsExactly("inode " + a + " and its pages", "name 1/a");
    }

    @Test
    void listing_whereAFileHasBecomeADirectory_dropsInodeAndName() throws Exception {
        m.bucket.put("a", "1");
        long a = m.lookup("a").inode();
        m.bucket.put("a/b", "1");

        m.ls(FileSystem.ROOT, 10);

        assertThat(kernel.drain()).containsExactly("inode " + a + " and its pages", "name 1/a");
    }

    @Test
    void read_findsItChanged_dropsTheInodeButKeepsItsPages() throws Exception {
        m.bucket.put("a", "1");
        long a = m.lookup("a").inode();
        OpenFile open = m.open("a");
        m.bucket.put("a", "22");

        assertErrno(Errno.ESTALE, () -> m.read(open));

        assertThat(kernel.drain()).as("another version is another inode").containsExactly("inode " + a, "name 1/a");
        m.fs.release(open.handle());
    }

    @Test
    void read_thatFindsItGone_dropsTheNameToo() throws Exception {
        m.bucket.put("a", "1");
        long a = m.lookup("a").inode();
        OpenFile open = m.open("a");
        m.bucket.delete("a");

        assertErrno(Errno.ESTALE, () -> m.read(open));

        assertThat(kernel.drain()).containsExactly("inode " + a, "name 1/a");
        m.fs.release(open.handle());
    }
}
