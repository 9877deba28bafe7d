package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.assertErrno;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.Errno;
import io.penstock.core.NoWait;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.filesystem.kernel.OpenFile.PageCachePolicy;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.Content;
import io.penstock.testing.Fault;
import io.penstock.testing.Gate;
import io.penstock.testing.TestData;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** open, read and release, including objects that change while they are open. */
@Timeout(60)
class FilesTest extends OverOneCache {
    // lseek(2).
    private static final int SEEK_DATA = 3;
    private static final int SEEK_HOLE = 4;

    private static final int MIB = 1 << 20;

    private Mounted m;

    @BeforeEach
    void mount() {
        m = new Mounted(cache);
    }

    @AfterEach
    void unmount() {
        m.close();
    }

    @Test
    void read_anywhere_bringsTheObjectsBytes() throws Exception {
        TestData data = TestData.of("a", 3 * MIB + 17);
        m.bucket.put("a", data);
        OpenFile file = m.open("a");

        for (long position : List.of(0L, 1L, MIB - 1L, 2L * MIB, 3L * MIB)) {
            ByteBuffer to = ByteBuffer.allocate(4096);
            int expected = (int) Math.min(4096, data.size() - position);
            assertThat(m.fs.read(file.handle(), position, to, null, true)).isEqualTo(expected);
            data.verify(position, to.flip());
        }
        assertThat(m.fs.read(file.handle(), data.size(), ByteBuffer.allocate(1), null, true))
                .isZero();
        assertThat(m.fs.read(file.handle(), data.size() + 5, ByteBuffer.allocate(1), null, true))
                .isZero();
        m.fs.release(file.handle());
    }

    @Test
    void read_emptyObject_isTheEndAtOnce() throws Exception {
        m.bucket.put("a", "");

        assertThat(m.cat("a")).isEmpty();
        assertThat(m.store.gets()).isEmpty();
    }

    @Test
    void readNow_coldThenWarm_waitsForNothing() throws Exception {
        m.bucket.put("a", "hello");
        OpenFile file = m.open("a");

        assertThat(m.fs.read(file.handle(), 0, ByteBuffer.allocate(5), null, false))
                .isEqualTo(NoWait.WOULD_WAIT);
        m.read(file);
        assertThat(m.fs.read(file.handle(), 0, ByteBuffer.allocate(5), null, false))
                .isEqualTo(5);
        m.fs.release(file.handle());
    }

    @Test
    void read_objectReplaced_isEstaleAndTheNextOpenSeesTheNewOne() throws Exception {
        m.bucket.put("a", "old");
        OpenFile old = m.open("a");
        m.bucket.put("a", "new!");

        assertErrno(Errno.ESTALE, () -> m.read(old));
        assertThat(m.lookup("a").size()).isEqualTo(4);
        assertThat(m.cat("a")).isEqualTo("new!");
        assertErrno(Errno.ESTALE, () -> m.read(old));
        m.fs.release(old.handle());
    }

    @Test
    void read_objectDeleted_isEstaleAndTheNameIsGone() throws Exception {
        m.bucket.put("a", "old");
        OpenFile old = m.open("a");
        m.bucket.delete("a");

        assertErrno(Errno.ESTALE, () -> m.read(old));
        assertErrno(Errno.ENOENT, () -> m.lookup("a"));
        m.fs.release(old.handle());
    }

    @Test
    void read_manyStaleHandles_costOneLookup() throws Exception {
        m.bucket.put("a", "old");
        List<OpenFile> handles = List.of(m.open("a"), m.open("a"), m.open("a"));
        m.bucket.put("a", "new!");
        m.drainCalls();

        for (OpenFile handle : handles) {
            assertErrno(Errno.ESTALE, () -> m.read(handle));
            m.lookup("a");
            m.fs.release(handle.handle());
        }
        assertThat(m.store.lists()).hasSize(1);
    }

    @Test
    void read_replacedAfterItWasRead_goesOnWithTheOldBytes() throws Exception {
        m.bucket.put("a", "old");
        OpenFile old = m.open("a");
        assertThat(m.read(old)).isEqualTo("old");
        m.bucket.put("a", "new!");
        m.clock.advance(Mounted.TTL);

        assertThat(m.cat("a")).isEqualTo("new!");
        assertThat(m.read(old)).isEqualTo("old");
        m.fs.release(old.handle());
    }

    @ParameterizedTest
    @ValueSource(strings = {"GLACIER", "DEEP_ARCHIVE"})
    void read_archivedObject_isEacces(String storageClass) throws Exception {
        m.bucket.put("a", Content.of(new byte[9]), storageClass);

        assertThat(m.lookup("a").size()).isEqualTo(9);
        assertErrno(Errno.EACCES, () -> m.cat("a"));
    }

    @Test
    void read_storeFails_isEioAndTheNextReadTriesAgain() throws Exception {
        m.bucket.put("a", "hello");
        OpenFile file = m.open("a");
        m.faults.next(call -> call.isGetOf("a"), Fault.fail(ObjectStoreException.Unavailable::new));

        assertErrno(Errno.EIO, () -> m.read(file));
        assertThat(m.read(file)).isEqualTo("hello");
        m.fs.release(file.handle());
    }

    @Test
    void read_interrupted_isEintrAndTheFlagStays() throws Exception {
        m.bucket.put("a", "hello");
        OpenFile file = m.open("a");
        try (Gate gate = m.delays.hold(call -> call.isGetOf("a"));
                ExecutorService threads = Executors.newSingleThreadExecutor()) {
            Future<Boolean> flag = threads.submit(() -> {
                assertErrno(Errno.EINTR, () -> m.read(file));
                return Thread.currentThread().isInterrupted();
            });
            gate.awaitHeld(1);
            threads.shutdownNow();
            assertThat(flag.get()).isTrue();
        }
        m.fs.release(file.handle());
    }

    @Test
    void read_closedOrForeignHandle_isEbadf() throws Exception {
        m.bucket.put("a", "hello");
        OpenFile file = m.open("a");
        m.fs.release(file.handle());
        m.fs.release(file.handle());

        assertErrno(Errno.EBADF, () -> m.read(file));
        assertErrno(Errno.EBADF, () -> m.fs.read(file.handle(), 0, ByteBuffer.allocate(1), null, false));
    }

    /** A listing may claim any size. */
    @Test
    void open_moreThanAnyStoreTakes_isEfbig() throws Exception {
        m.bucket.putTestData("huge", ObjectVersion.LARGEST + 1);
        m.bucket.putTestData("absurd", Long.MAX_VALUE);
        m.bucket.putTestData("large", ObjectVersion.LARGEST);
        assertErrno(Errno.EFBIG, () -> m.open("huge"));
        assertErrno(Errno.EFBIG, () -> m.open("absurd"));
        m.fs.release(m.open("large").handle());
    }

    @Test
    void open_directory_isEisdir() {
        assertErrno(Errno.EISDIR, () -> m.fs.open(FileSystem.ROOT, 0));
    }

    @Test
    void open_forgottenWhileOpen_keepsTheInode() throws Exception {
        m.bucket.put("a", "hello");
        long inode = m.fs.lookup(FileSystem.ROOT, "a").inode();
        OpenFile file = m.fs.open(inode, 0);
        m.fs.forget(inode, 1);

        assertThat(m.fs.getattr(inode).size()).isEqualTo(5);
        assertThat(m.read(file)).isEqualTo("hello");
        m.fs.release(file.handle());
        assertErrno(Errno.ESTALE, () -> m.fs.getattr(inode));
    }

    @Test
    void open_afterForget_keepsTheKernelsPagesOfTheVersion() throws Exception {
        m.bucket.put("a", "1");
        assertThat(openAndForget("a")).isEqualTo(PageCachePolicy.INVALIDATE);
        assertThat(openAndForget("a")).isEqualTo(PageCachePolicy.KEEP);

        m.bucket.put("a", "2");
        m.clock.advance(Mounted.TTL);
        assertThat(openAndForget("a")).isEqualTo(PageCachePolicy.INVALIDATE);
        assertThat(openAndForget("a")).isEqualTo(PageCachePolicy.KEEP);
    }

    @Test
    void open_ofAFileThatIsFetchedWhole_saysThatTheKernelMayReadAhead() throws Exception {
        m.bucket.put("small", "1");
        m.bucket.putTestData("large", 64 << 20);
        OpenFile small = m.open("small");
        OpenFile large = m.open("large");
        assertThat(small.streamed()).isTrue();
        assertThat(large.streamed()).isFalse();
        m.fs.release(small.handle());
        m.fs.release(large.handle());
    }

    @Test
    void open_newVersionWhileTheOldIsOpen_bypassesTheKernelsPages() throws Exception {
        m.bucket.put("a", "1");
        OpenFile old = m.open("a");
        m.bucket.put("a", "2");
        m.clock.advance(Mounted.TTL);

        OpenFile bypassing = m.open("a");
        assertThat(bypassing.pageCache()).isEqualTo(PageCachePolicy.BYPASS);
        assertThat(m.read(bypassing)).isEqualTo("2");
        m.fs.release(old.handle());
        m.fs.release(bypassing.handle());
        assertThat(openAndForget("a")).isEqualTo(PageCachePolicy.INVALIDATE);
    }

    @ParameterizedTest
    @ValueSource(ints = {01, 02, 01000, 0100, 02 | 01000 | 0100})
    void open_toWrite_isErofs(int flags) throws Exception {
        m.bucket.put("a", "1");
        long inode = m.lookup("a").inode();

        assertErrno(Errno.EROFS, () -> m.fs.open(inode, flags));
    }

    @Test
    void everyChange_isErofs() throws Exception {
        m.bucket.put("a", "1");
        long a = m.lookup("a").inode();
        long root = FileSystem.ROOT;
        AttributeChange truncate = new AttributeChange(null, null, null, 0L, null, null, null);
        List<ThrowingCallable> changes = List.of(
                () -> m.fs.create(root, "b", 0644, Mounted.CREATOR, 0),
                () -> m.fs.mknod(root, "b", 0644, 0, Mounted.CREATOR),
                () -> m.fs.mkdir(root, "b", 0755, Mounted.CREATOR),
                () -> m.fs.unlink(root, "a"),
                () -> m.fs.rmdir(root, "a"),
                () -> m.fs.rename(root, "a", root, "b", 0),
                () -> m.fs.link(a, root, "b"),
                () -> m.fs.symlink("a", root, "b", Mounted.CREATOR),
                () -> m.fs.setattr(a, null, truncate),
                () -> m.fs.setxattr(a, "user.x", new byte[0], 0),
                () -> m.fs.removexattr(a, "user.x"),
                () -> m.fs.write(1, 0, ByteBuffer.allocate(1), 0, false, true),
                () -> m.fs.copyFileRange(1, 0, 2, 0, 1),
                () -> m.fs.fallocate(1, 0, 0, 1));

        assertThat(changes).allSatisfy(change -> assertErrno(Errno.EROFS, change));
        assertErrno(Errno.EINVAL, () -> m.fs.readlink(a));
    }

    @Test
    void lseek_anyOffset_isDataUpToTheEnd() throws Exception {
        m.bucket.put("a", "12345");
        long a = m.open("a").handle();

        assertThat(m.fs.lseek(a, 2, SEEK_DATA)).isEqualTo(2);
        assertThat(m.fs.lseek(a, 2, SEEK_HOLE)).isEqualTo(5);
        assertErrno(Errno.ENXIO, () -> m.fs.lseek(a, 5, SEEK_DATA));
        assertErrno(Errno.ENXIO, () -> m.fs.lseek(a, 5, SEEK_HOLE));
        assertErrno(Errno.ENXIO, () -> m.fs.lseek(a, -1, SEEK_DATA));
        assertErrno(Errno.EINVAL, () -> m.fs.lseek(a, 0, 0));
        m.fs.release(a);
    }

    @Test
    void flushAndFsync_openToRead_succeed() throws Exception {
        m.bucket.put("a", "1");
        long a = m.open("a").handle();
        long root = m.fs.opendir(FileSystem.ROOT).handle();

        m.fs.flush(a);
        m.fs.fsync(a);
        m.fs.fsyncdir(root);

        assertThat(m.fs.inodeOf(a)).isEqualTo(m.lookup("a").inode());
        assertThat(m.fs.inodeOf(root)).isEqualTo(FileSystem.ROOT);
        m.fs.release(a);
        m.fs.releasedir(root);
    }

    @Test
    void anything_onAHandleThatIsNotOpen_isEbadf() throws Exception {
        long root = m.fs.opendir(FileSystem.ROOT).handle();

        assertThat(List.<ThrowingCallable>of(
                        () -> m.fs.read(99, 0, ByteBuffer.allocate(1), null, true),
                        () -> m.fs.lseek(root, 0, SEEK_DATA),
                        () -> m.fs.flush(99),
                        () -> m.fs.fsync(root),
                        () -> m.fs.fsyncdir(99),
                        () -> m.fs.inodeOf(99)))
                .allSatisfy(call -> assertErrno(Errno.EBADF, call));
        m.fs.releasedir(root);
    }

    @Test
    void close_withOpenHandles_closesThem() throws Exception {
        m.bucket.put("a", "1");
        m.open("a");
        m.fs.opendir(FileSystem.ROOT);

        m.fs.close();

        assertThat(m.fs.openHandles()).isZero();
    }

    private PageCachePolicy openAndForget(String name) throws Exception {
        long inode = m.fs.lookup(FileSystem.ROOT, name).inode();
        OpenFile file = m.fs.open(inode, 0);
        m.fs.forget(inode, 1);
        m.read(file);
        m.fs.release(file.handle());
        return file.pageCache();
    }
}
