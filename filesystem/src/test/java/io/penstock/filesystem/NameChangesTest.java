package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.O_EXCL;
import static io.penstock.filesystem.Mounted.O_RDWR;
import static io.penstock.filesystem.Mounted.O_TRUNC;
import static io.penstock.filesystem.Mounted.O_WRONLY;
import static io.penstock.filesystem.Mounted.assertErrno;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.Errno;
import io.penstock.filesystem.kernel.NotifiedKernel;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.filesystem.kernel.OpenFile.PageCachePolicy;
import io.penstock.filesystem.names.RemovalBurst;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.Content;
import io.penstock.testing.Fault;
import io.penstock.testing.Gate;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WritebackConfig;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** mkdir, rmdir, unlink, mknod and rename. */
@Timeout(60)
class NameChangesTest extends OverWritableMount {
    private static final int NOREPLACE = 1;
    private static final int EXCHANGE = 2;

    // ---- directories

    @Test
    void mkdir_new_isAMarkerObject() throws Exception {
        m.mkdir("d");

        assertThat(m.stored("d/")).isEmpty();
        assertThat(m.lookup("d").isDirectory()).isTrue();
        m.save("d/a", "1");
        assertThat(m.stored("d/a")).isEqualTo("1");
        assertThat(m.ls(m.lookup("d").inode(), 10)).containsExactly("a");
    }

    @Test
    void mkdir_exists_isEexist() throws Exception {
        m.bucket.put("a", "1");
        m.bucket.put("d/x", "1");

        assertErrno(Errno.EEXIST, () -> m.mkdir("a"));
        assertErrno(Errno.EEXIST, () -> m.mkdir("d"));
        assertErrno(Errno.ENAMETOOLONG, () -> m.mkdir("n".repeat(256)));
    }

    @Test
    void make_ofPenstocksOwnName_isEpermAndMakesNothing() throws Exception {
        m.mkdir("d");
        m.mkdir("e");
        m.save("f", "1");

        assertErrno(Errno.EPERM, () -> m.mkdir("d/.penstock"));
        assertErrno(Errno.EPERM, () -> m.save("d/.penstock", "1"));
        assertErrno(Errno.EPERM, () -> m.rename("f", "d/.penstock", 0));
        assertErrno(Errno.EPERM, () -> m.rename("e", "d/.penstock", 0));
        long directory = m.lookup("d").inode();
        assertErrno(Errno.EPERM, () -> m.fs.symlink("f", directory, ".penstock", Mounted.CREATOR));
        assertErrno(Errno.EPERM, () -> m.fs.link(m.lookup("f").inode(), directory, ".penstock"));
        m.rmdir("d");
    }

    @Test
    void rmdir_empty_removesItsMarker() throws Exception {
        m.mkdir("d");
        m.mkdir("d/e");

        assertErrno(Errno.ENOTEMPTY, () -> m.rmdir("d"));
        m.rmdir("d/e");
        m.rmdir("d");

        assertThat(m.stored("d/")).isNull();
        assertErrno(Errno.ENOENT, () -> m.lookup("d"));
        assertThat(m.ls(FileSystem.ROOT, 10)).isEmpty();
    }

    @Test
    void rmdir_withAFileThatIsNotCommitted_isEnotempty() throws Exception {
        m.mkdir("d");
        OpenFile file = m.create("d/a", O_WRONLY);

        assertErrno(Errno.ENOTEMPTY, () -> m.rmdir("d"));
        assertErrno(Errno.ENOTDIR, () -> m.rmdir("d/a"));
        m.unlink("d/a");
        m.rmdir("d");

        m.close(file);
        assertErrno(Errno.ENOENT, () -> m.rmdir("d"));
    }

    @Test
    void rmdir_whereAnObjectHasTheNameToo_showsThat() throws Exception {
        m.mkdir("a");
        m.bucket.put("a", "1");

        m.rmdir("a");

        assertThat(m.cat("a")).isEqualTo("1");
    }

    @Test
    void rmdir_inAListedDirectory_leavesItsListing() throws Exception {
        m.mkdir("a");
        m.mkdir("b");
        assertThat(m.ls(FileSystem.ROOT, 10)).containsExactly("a", "b");

        m.rmdir("a");

        m.store.drain();
        assertThat(m.ls(FileSystem.ROOT, 10)).containsExactly("b");
        assertThat(m.store.drain()).isEmpty();
    }

    @Test
    void rename_ofADirectoryInAListedOne_leavesItsListing() throws Exception {
        m.mkdir("a");
        m.mkdir("b");
        assertThat(m.ls(FileSystem.ROOT, 10)).containsExactly("a", "b");

        m.rename("a", "c", 0);

        m.store.drain();
        assertThat(m.ls(FileSystem.ROOT, 10)).containsExactlyInAnyOrder("b", "c");
        assertThat(m.store.drain()).isEmpty();
    }

    @Test
    void create_inADirectoryThatIsGone_isEnoent() throws Exception {
        m.mkdir("d");
        long inode = m.lookup("d").inode();
        m.rmdir("d");

        assertErrno(Errno.ENOENT, () -> m.fs.create(inode, "a", 0644, Mounted.CREATOR, O_WRONLY));
        assertErrno(Errno.ENOENT, () -> m.fs.mkdir(inode, "a", 0755, Mounted.CREATOR));
        assertThat(m.fs.getattr(inode).isDirectory()).isTrue();
    }

    @Test
    void unlink_writtenBySomebodyElseSince_removesThat() throws Exception {
        m.bucket.put("a", "old");
        m.lookup("a");
        m.bucket.put("a", "newer");

        m.unlink("a");

        assertThat(m.stored("a")).isNull();
        assertErrno(Errno.ENOENT, () -> m.lookup("a"));
    }

    @Test
    void unlink_lastFileOfADirectory_leavesTheDirectory() throws Exception {
        m.bucket.put("d/e/a", "1");

        m.unlink("d/e/a");

        m.clock.advance(Mounted.TTL);
        assertThat(m.ls(m.lookup("d/e").inode(), 10)).isEmpty();
        m.rmdir("d/e");
        m.rmdir("d");
        assertErrno(Errno.ENOENT, () -> m.lookup("d"));
    }

    /** It is in the bucket only after its commit. */
    @Test
    void unlink_lastObjectNextToAWrittenFile_leavesTheDirectories() throws Exception {
        m.bucket.put("d/e/a", "1");
        OpenFile written = m.create("d/e/b", O_RDWR);

        m.unlink("d/e/a");

        m.clock.advance(Mounted.TTL.multipliedBy(3));
        assertThat(m.ls(FileSystem.ROOT, 10)).containsExactly("d");
        assertThat(m.ls(m.lookup("d/e").inode(), 10)).containsExactly("b");
        m.fs.flush(written.handle());
        m.fs.release(written.handle());
        assertThat(m.stored("d/e/b")).isEmpty();
    }

    @Test
    void unlink_twoLevelsDown_keepsTheKernelsListingsAbove() throws Exception {
        m.bucket.put("d/e/a", "1");
        m.bucket.put("d/e/b", "1");
        long root = FileSystem.ROOT;
        long d = m.lookup("d").inode();
        opendirAndRead(root);
        opendirAndRead(d);

        m.unlink("d/e/a");

        assertThat(opendirAndRead(root)).isEqualTo(PageCachePolicy.KEEP);
        assertThat(opendirAndRead(d)).isEqualTo(PageCachePolicy.KEEP);
    }

    private PageCachePolicy opendirAndRead(long inode) throws Exception {
        OpenFile directory = m.fs.opendir(inode);
        m.ls(directory.handle(), 0, 10);
        m.fs.releasedir(directory.handle());
        return directory.pageCache();
    }

    @Test
    void lookup_emptiedHereAndMadeAFileBySomebodyElse_isTheFile() throws Exception {
        m.bucket.put("d/a", "1");
        m.unlink("d/a");
        m.bucket.put("d", "theirs");
        m.clock.advance(Mounted.TTL);

        assertThat(m.cat("d")).isEqualTo("theirs");
    }

    // ---- unlink

    @Test
    void unlink_notOpen_isGoneFromTheStore() throws Exception {
        m.bucket.put("a", "1");
        m.lookup("a");

        m.unlink("a");

        assertThat(m.stored("a")).isNull();
        assertErrno(Errno.ENOENT, () -> m.lookup("a"));
        assertErrno(Errno.ENOENT, () -> m.unlink("a"));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, O_WRONLY})
    void unlink_waitsForTheStore_isGoneToWhoOpensIt(int flags) throws Exception {
        m.bucket.put("a", "1");
        long inode = m.lookup("a").inode();
        FutureTask<Void> unlink = task(() -> m.unlink("a"));
        try (Gate gate = m.delays.hold(Call.Delete.class::isInstance)) {
            Thread.startVirtualThread(unlink);
            gate.awaitHeld(1);

            assertErrno(Errno.ESTALE, () -> m.fs.open(inode, flags)); // the kernel then looks it up again
            assertErrno(Errno.ENOENT, () -> m.lookup("a"));
            assertThat(m.ls(FileSystem.ROOT, 10)).isEmpty();
        }
        unlink.get();

        m.drain();
        assertErrno(Errno.ENOENT, () -> m.lookup("a"));
        assertThat(m.stored("a")).isNull();
    }

    @Test
    void create_whileTheNameIsRemoved_waitsForThatAndIsAnotherFile() throws Exception {
        m.bucket.put("a", "old");
        long old = m.lookup("a").inode();
        FutureTask<Void> unlink = task(() -> m.unlink("a"));
        FutureTask<Void> create = task(() -> m.save("a", "new"));
        try (Gate gate = m.delays.hold(Call.Delete.class::isInstance)) {
            Thread.startVirtualThread(unlink);
            gate.awaitHeld(1);
            Thread.startVirtualThread(create);
        }
        unlink.get();
        create.get();

        assertThat(m.stored("a")).isEqualTo("new");
        assertThat(m.cat("a")).isEqualTo("new");
        assertThat(m.lookup("a").inode()).isNotEqualTo(old);
    }

    @Test
    void unlink_directory_isEisdir() throws Exception {
        m.mkdir("d");

        assertErrno(Errno.EISDIR, () -> m.unlink("d"));
    }

    @Test
    void unlink_openToRead_deletesTheObjectAndReadsTheCache() throws Exception {
        m.bucket.put("a", "1");
        OpenFile file = m.open("a");
        assertThat(m.read(file)).isEqualTo("1");
        long inode = m.lookup("a").inode();

        m.unlink("a");

        assertThat(m.stored("a")).isNull();
        assertErrno(Errno.ENOENT, () -> m.lookup("a"));
        assertThat(m.ls(FileSystem.ROOT, 10)).isEmpty();
        assertThat(m.read(file)).isEqualTo("1");
        assertThat(m.fs.getattr(inode).links()).isZero();
        assertThat(m.fs.getattr(inode).size()).isOne();
        m.close(file);
    }

    @Test
    void unlink_openAndNotCached_isEstaleToItsReader() throws Exception {
        m.bucket.put("a", "1");
        OpenFile file = m.open("a");

        m.unlink("a");

        assertErrno(Errno.ESTALE, () -> m.read(file));
        m.fs.release(file.handle());
    }

    /** Like programs that delete their temporary files while they use them. */
    @Test
    void unlink_writtenHereAndCommitted_isReadAndWrittenOn() throws Exception {
        OpenFile file = m.create("a", O_RDWR);
        m.write(file, 0, "12");
        m.fs.flush(file.handle());
        assertThat(m.stored("a")).isEqualTo("12");

        m.unlink("a");

        assertThat(m.stored("a")).isNull();
        assertThat(m.read(file)).isEqualTo("12");
        m.write(file, 1, "x3");
        m.fs.fsync(file.handle());
        assertThat(m.read(file)).isEqualTo("1x3");
        m.close(file);
        m.drain();
        assertThat(m.stored("a")).isNull();
    }

    @Test
    void unlink_openAndTheNameIsMadeAnew_isAnotherFile() throws Exception {
        m.bucket.put("a", "old");
        OpenFile old = m.open("a");
        assertThat(m.read(old)).isEqualTo("old");
        m.unlink("a");

        m.save("a", "new");

        assertThat(m.read(old)).isEqualTo("old");
        m.close(old);
        assertThat(m.cat("a")).isEqualTo("new");
        assertThat(m.stored("a")).isEqualTo("new");
    }

    @Test
    void unlink_openAndReplacedBySomebodyElse_leavesTheirs() throws Exception {
        m.bucket.put("a", "old");
        OpenFile old = m.open("a");
        m.unlink("a");
        m.bucket.put("a", "theirs");

        m.close(old);
        m.fs.close();

        assertThat(m.stored("a")).isEqualTo("theirs");
    }

    @Test
    void unlink_openAndTheStoreDeniesIt_staysAsItWas() throws Exception {
        m.bucket.put("a", "1");
        OpenFile file = m.open("a");
        long inode = m.lookup("a").inode();
        m.faults.next(Call.Delete.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));

        assertErrno(Errno.EACCES, () -> m.unlink("a"));

        assertThat(m.lookup("a").inode()).isEqualTo(inode);
        assertThat(m.fs.getattr(inode).links()).isOne();
        assertThat(m.read(file)).isEqualTo("1");
        m.close(file);
    }

    @Test
    void create_interruptedDuringTheRemoval_isEintrAndItContinues() throws Exception {
        m.bucket.put("a", "old");
        FutureTask<Void> unlink = task(() -> m.unlink("a"));
        FutureTask<Void> create = task(() -> assertErrno(Errno.EINTR, () -> m.create("a", O_WRONLY)));
        try (Gate gate = m.delays.hold(Call.Delete.class::isInstance)) {
            Thread.startVirtualThread(unlink);
            gate.awaitHeld(1);
            Thread thread = Thread.ofPlatform().start(create);
            thread.interrupt();
            create.get();
            assertErrno(Errno.ENOENT, () -> m.lookup("a"));
        }
        unlink.get();

        assertThat(m.stored("a")).isNull();
        assertErrno(Errno.ENOENT, () -> m.lookup("a"));
    }

    @Test
    void unlink_beingWritten_staysAndLeavesNothing() throws Exception {
        OpenFile file = m.create("a", O_RDWR);
        m.write(file, 0, "1");

        m.unlink("a");

        m.write(file, 1, "2");
        assertThat(m.read(file)).isEqualTo("12");
        m.fs.fsync(file.handle());
        m.close(file);
        m.drain();
        assertThat(m.stored("a")).isNull();
        assertErrno(Errno.ENOENT, () -> m.lookup("a"));
    }

    @Test
    void unlink_committedWithoutAnAnswer_removesTheObject() throws Exception {
        m.faults.next(Call.Put.class::isInstance, Fault.failAfterwards(ObjectStoreException.Unavailable::new));
        OpenFile file = m.create("a", O_RDWR);
        m.write(file, 0, "1");
        assertErrno(Errno.EIO, () -> m.fs.flush(file.handle()));
        assertThat(m.stored("a")).isEqualTo("1");

        m.unlink("a");

        m.fs.release(file.handle());
        m.drain();
        assertThat(m.stored("a")).isNull();
        assertErrno(Errno.ENOENT, () -> m.lookup("a"));
    }

    @Test
    void unlink_objectBeingChanged_staysAndLeavesNothing() throws Exception {
        m.bucket.put("a", "12345");
        OpenFile file = m.open("a", O_RDWR);
        assertThat(m.read(file)).isEqualTo("12345");
        m.write(file, 0, "x");

        m.unlink("a");

        assertThat(m.stored("a")).isNull();
        assertThat(m.read(file)).isEqualTo("x2345");
        m.close(file);
        m.fs.close();
        assertThat(m.stored("a")).isNull();
    }

    /** As for a lock file that stays empty: the store may have it already, although no call has returned that. */
    @Test
    void unlink_closedForTheLastTimeWhileItsCommitEnds_leavesNothing() throws Exception {
        OpenFile writer = m.create("a", O_WRONLY);
        OpenFile reader = m.open("a");
        try (Gate gate = m.delays.holdAnswer(call -> call instanceof Call.Put)) {
            m.fs.release(writer.handle()); // an empty file is committed in the background
            gate.awaitHeld(1);
            FutureTask<Void> unlink = new FutureTask<>(() -> {
                m.fs.unlink(FileSystem.ROOT, "a");
                return null;
            });
            Thread thread = Thread.ofPlatform().start(unlink);
            while (thread.getState() != Thread.State.WAITING) {
                Thread.sleep(1); // for the commit: the store already has its object
            }
            m.fs.release(reader.handle());
            gate.open();
            unlink.get();
        }

        assertThat(m.stored("a")).isNull();
        assertErrno(Errno.ENOENT, () -> m.lookup("a"));
    }

    @Test
    void unlink_whileItIsCommittedBehind_leavesNothing() throws Exception {
        OpenFile file = m.create("a", O_WRONLY);
        try (Gate answer = m.delays.holdAnswer(call -> call instanceof Call.Put)) {
            m.write(file, 0, "1");
            m.fs.release(file.handle());
            answer.awaitHeld(1);
            FutureTask<Void> unlink = new FutureTask<>(() -> {
                m.unlink("a");
                return null;
            });
            Thread thread = Thread.ofPlatform().start(unlink);
            while (thread.getState() != Thread.State.WAITING && !unlink.isDone()) {
                Thread.onSpinWait();
            }
            answer.open();
            unlink.get();
        }

        assertThat(m.stored("a")).isNull();
        assertErrno(Errno.ENOENT, () -> m.lookup("a"));
    }

    @Test
    void unlink_storeDeniesIt_staysAsItWas() throws Exception {
        m.bucket.put("a", "1");
        m.faults.next(call -> call instanceof Call.Delete, Fault.fail(ObjectStoreException.AccessDenied::new));

        assertErrno(Errno.EACCES, () -> m.unlink("a"));

        assertThat(m.cat("a")).isEqualTo("1");
    }

    /** For example if there is no memory for a request. */
    @Test
    void unlink_endedByAnError_leavesTheOpenFileToBeCommitted() throws Exception {
        OpenFile file = m.create("a", O_RDWR);
        m.write(file, 0, "1");
        m.fs.flush(file.handle());
        m.faults.next(Call.Delete.class::isInstance, Fault.fail((_, _) -> {
            throw new OutOfMemoryError("injected");
        }));

        assertThatThrownBy(() -> m.unlink("a")).isInstanceOf(OutOfMemoryError.class);

        m.write(file, 0, "2");
        m.fs.flush(file.handle());
        assertThat(m.stored("a")).isEqualTo("2");
        m.close(file);
    }

    @Test
    void unlink_doneWithoutAnAnswer_isAskedFor() throws Exception {
        m.bucket.put("d/a", "1");
        m.bucket.put("d/b", "1");
        m.lookup("d/a");
        assertThat(m.ls(m.lookup("d").inode(), 10)).containsExactly("a", "b");
        m.faults.next(Call.Delete.class::isInstance, Fault.failAfterwards(ObjectStoreException.Unavailable::new));

        assertErrno(Errno.EIO, () -> m.unlink("d/a"));

        assertThat(m.ls(m.lookup("d").inode(), 10)).containsExactly("b");
        assertErrno(Errno.ENOENT, () -> m.lookup("d/a"));
    }

    @Test
    void rmdir_doneWithoutAnAnswer_isAskedFor() throws Exception {
        m.mkdir("d");
        assertThat(m.ls(FileSystem.ROOT, 10)).containsExactly("d");
        m.faults.next(Call.Delete.class::isInstance, Fault.failAfterwards(ObjectStoreException.Unavailable::new));

        assertErrno(Errno.EIO, () -> m.rmdir("d"));

        assertThat(m.ls(FileSystem.ROOT, 10)).isEmpty();
        assertErrno(Errno.ENOENT, () -> m.lookup("d"));
    }

    @Test
    void mkdir_doneWithoutAnAnswer_isAskedFor() throws Exception {
        assertErrno(Errno.ENOENT, () -> m.lookup("d"));
        m.faults.next(Call.Put.class::isInstance, Fault.failAfterwards(ObjectStoreException.Unavailable::new));

        assertErrno(Errno.EIO, () -> m.mkdir("d"));

        assertThat(m.lookup("d").isDirectory()).isTrue();
    }

    @Test
    void rmdir_ofADirectoryWithHiddenKeysOnly_isEnotempty() throws Exception {
        m.bucket.put("d//x", "1");
        assertThat(m.ls(m.lookup("d").inode(), 10)).isEmpty();

        assertErrno(Errno.ENOTEMPTY, () -> m.rmdir("d"));
    }

    @Test
    void unlink_ofWhatIsWrittenAnewAndTheStoreDeniesIt_staysAsItWas() throws Exception {
        m.bucket.put("a", "1");
        OpenFile file = m.open("a", O_WRONLY | O_TRUNC);
        m.write(file, 0, "23");
        m.faults.next(Call.Delete.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));

        assertErrno(Errno.EACCES, () -> m.unlink("a"));

        assertThat(m.lookup("a").size()).isEqualTo(2);
        m.close(file);
        assertThat(m.stored("a")).isEqualTo("23");
    }

    @Test
    void rmdir_ofADirectoryWithARemovedOpenFile_succeeds() throws Exception {
        m.bucket.put("d/a", "1");
        OpenFile file = m.open("d/a");
        assertThat(m.read(file)).isEqualTo("1");
        m.unlink("d/a");

        m.rmdir("d");

        assertThat(m.read(file)).isEqualTo("1");
        m.close(file);
        assertErrno(Errno.ENOENT, () -> m.lookup("d"));
        assertThat(m.stored("d/a")).isNull();
    }

    // ---- mknod

    @Test
    void mknod_regularFile_isThere() throws Exception {
        long inode =
                m.fs.mknod(FileSystem.ROOT, "a", 0100644, 0, Mounted.CREATOR).inode();
        m.fs.forget(inode, 1);

        assertThat(m.stored("a")).isEmpty();
        assertErrno(Errno.EEXIST, () -> m.fs.mknod(FileSystem.ROOT, "a", 0100644, 0, Mounted.CREATOR));
    }

    // ---- rename

    @Test
    void rename_readBeforeItHasReturned_goesOnWithTheCopy() throws Exception {
        m.bucket.put("a", "1");
        OpenFile file = m.open("a");
        FutureTask<Void> rename = task(() -> m.rename("a", "b", 0));
        try (Gate gate = m.delays.holdAnswer(call -> call instanceof Call.Delete)) {
            Thread.startVirtualThread(rename);
            gate.awaitHeld(1);

            assertThat(m.read(file)).isEqualTo("1");
        }
        rename.get();
        m.close(file);
    }

    @Test
    void rename_file_isThereUnderTheNewName() throws Exception {
        m.bucket.put("a", "1");
        long inode = m.lookup("a").inode();
        m.mkdir("d");

        m.rename("a", "d/b", 0);

        assertThat(m.stored("a")).isNull();
        assertThat(m.stored("d/b")).isEqualTo("1");
        assertErrno(Errno.ENOENT, () -> m.lookup("a"));
        assertThat(m.lookup("d/b").inode()).isEqualTo(inode);
        assertThat(m.cat("d/b")).isEqualTo("1");
        assertThat(m.ls(FileSystem.ROOT, 10)).containsExactly("d");
    }

    @Test
    void rename_allRequests_haveOneDeadline() throws Exception {
        m.bucket.put("a", "1");
        m.lookup("a");
        assertErrno(Errno.ENOENT, () -> m.lookup("b"));
        m.store.drain();

        m.rename("a", "b", 0);

        assertThat(m.store.calls()).hasSizeGreaterThan(2);
        assertThat(m.store.deadlines()).hasSize(1);
    }

    @Test
    void rename_object_keepsWhatItHasBesideItsBytes() throws Exception {
        ObjectProperties properties = new ObjectProperties(
                new TreeMap<>(Map.of(
                        "content-type",
                        "text/x-own",
                        "x-amz-storage-class",
                        "STANDARD_IA",
                        "x-amz-server-side-encryption",
                        "aws:kms")),
                Map.of("team", "web"));
        m.bucket.put("a", Content.of(new byte[10]), properties);

        m.rename("a", "b.html", 0);

        assertThat(m.bucket.properties("b.html")).isEqualTo(properties);
        long inode = m.lookup("b.html").inode();
        assertThat(new String(m.fs.getxattr(inode, "user.penstock.storage-class"), UTF_8))
                .isEqualTo("STANDARD_IA");
    }

    @Test
    void rename_fromATemporaryName_givesItTheTypeOfItsName() throws Exception {
        m.save("page.html.tmp", "1");

        m.rename("page.html.tmp", "page.html", 0);

        assertThat(m.bucket.properties("page.html").headers()).containsEntry("content-type", "text/html");
    }

    @Test
    void rename_ontoAFile_replacesIt() throws Exception {
        m.bucket.put("b", "old");
        long old = m.lookup("b").inode();
        m.save("tmp", "new");

        m.rename("tmp", "b", 0);

        assertThat(m.cat("b")).isEqualTo("new");
        assertThat(m.lookup("b").inode()).isNotEqualTo(old);
        assertErrno(Errno.ESTALE, () -> m.fs.getattr(old));
        m.clock.advance(Mounted.TTL);
        assertThat(m.cat("b")).isEqualTo("new");
    }

    @Test
    void rename_openFile_goesOnUnderTheNewName() throws Exception {
        m.bucket.put("a", "12345");
        OpenFile reader = m.open("a");
        m.rename("a", "b", 0);
        assertThat(m.read(reader)).isEqualTo("12345");

        OpenFile writer = m.open("b", O_RDWR);
        m.write(writer, 0, "x");
        m.rename("b", "c", 0);
        assertThat(m.stored("c")).isEqualTo("x2345");
        m.write(writer, 1, "y");
        assertThat(m.lookup("c").size()).isEqualTo(5);
        m.close(writer);

        assertThat(m.stored("c")).isEqualTo("xy345");
        assertThat(m.stored("b")).isNull();
        assertThat(m.read(reader)).isEqualTo("xy345");
        m.close(reader);
        assertThat(m.ls(FileSystem.ROOT, 10)).containsExactly("c");
    }

    /** Enough that the last ones are a burst. */
    private void unlinkMany(String directory, int files) throws Exception {
        for (int i = 0; i < files; i++) {
            m.unlink(directory + '/' + i);
        }
    }

    private void putMany(String directory, int files) {
        for (int i = 0; i < files; i++) {
            m.bucket.put(directory + '/' + i, "1");
        }
    }

    @Test
    void unlink_manyInQuickSuccession_deletesThemTogether() throws Exception {
        m.mkdir("d");
        putMany("d", 2500);
        m.store.drain();

        unlinkMany("d", 2500);
        assertThat(m.ls(m.lookup("d").inode(), 10)).isEmpty();
        m.rmdir("d");

        assertThat(m.store.batches()).hasSizeLessThan(500);
        assertThat(m.store.batches().stream().mapToInt(size -> size).sum()).isEqualTo(2500 - RemovalBurst.FIRST);
        assertThat(m.stored("d/0")).isNull();
        assertThat(m.stored("d/2499")).isNull();
    }

    @Test
    void unlink_manyInMoreThanASecond_areEachDoneWhenTheyReturn() throws Exception {
        m.mkdir("d");
        putMany("d", 20);
        for (int i = 0; i < 20; i++) {
            m.unlink("d/" + i);
            assertThat(m.stored("d/" + i)).isNull();
            m.clock.advance(Duration.ofMillis(1000 / RemovalBurst.FIRST));
        }
        assertThat(m.store.batches()).isEmpty();
    }

    @Test
    void unlink_aThousandWhileARequestDeletes_areOneRequest() throws Exception {
        int first = RemovalBurst.FIRST;
        m.mkdir("d");
        putMany("d", first + 1 + ObjectStore.MOST_DELETED);
        unlinkMany("d", first);
        try (Gate gate = m.delays.hold(Call.Delete.class::isInstance)) {
            m.unlink("d/" + first);
            gate.awaitHeld(1);
            for (int i = first + 1; i <= first + ObjectStore.MOST_DELETED; i++) {
                m.unlink("d/" + i);
            }
        }
        m.rmdir("d");
        assertThat(m.store.batches()).containsExactly(1, ObjectStore.MOST_DELETED);
    }

    @Test
    void create_rightAfterItWasRemovedInABurst_isANewFile() throws Exception {
        m.mkdir("d");
        putMany("d", 20);
        unlinkMany("d", 20);
        m.save("d/19", "new");
        m.drain();
        assertThat(m.stored("d/19")).isEqualTo("new");
        assertThat(m.cat("d/19")).isEqualTo("new");
    }

    @Test
    void unlink_manyWithFilesMadeInBetween_areEachDoneWhenTheyReturn() throws Exception {
        m.mkdir("d");
        putMany("d", 30);
        for (int i = 0; i < 30; i++) {
            m.unlink("d/" + i);
            assertThat(m.stored("d/" + i)).isNull();
            if (i % 4 == 0) {
                m.save("other", "1");
                m.unlink("other");
            }
        }
        assertThat(m.store.batches()).isEmpty();
    }

    @Test
    void unlink_ofABurstThatTheStoreRefuses_showsTheFilesAgain() throws Exception {
        m.mkdir("d");
        putMany("d", 20);
        unlinkMany("d", RemovalBurst.FIRST);
        m.faults.always(Call.Delete.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));
        long inode = m.lookup("d").inode();
        long handle = m.fs.opendir(inode).handle();
        long last = m.lookup("d/19").inode();
        for (int i = RemovalBurst.FIRST; i < 20; i++) {
            m.unlink("d/" + i);
        }
        m.fs.awaitBackgroundTasks(); // a program may call fsync much later
        assertErrno(Errno.EIO, () -> m.fs.fsyncdir(handle));
        m.fs.fsyncdir(handle); // reported once
        assertErrno(Errno.ENOTEMPTY, () -> m.rmdir("d"));
        assertThat(m.cat("d/19")).isEqualTo("1");
        assertThat(m.lookup("d/19").inode()).isEqualTo(last);
        m.faults.heal();
        m.fs.releasedir(handle);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void unlink_ofABurstInDoubt_isListedAnew(boolean isDone) throws Exception {
        m.mkdir("d");
        putMany("d", 20);
        long inode = m.lookup("d").inode();
        assertThat(m.ls(inode, 100)).hasSize(20);
        unlinkMany("d", RemovalBurst.FIRST);
        m.faults.next(
                Call.Delete.class::isInstance,
                isDone
                        ? Fault.failAfterwards(ObjectStoreException.Unavailable::new)
                        : Fault.fail(ObjectStoreException.Unavailable::new));
        m.unlink("d/18");
        m.fs.awaitBackgroundTasks();
        assertThat(m.ls(inode, 100)).contains("19").hasSize(20 - RemovalBurst.FIRST - (isDone ? 1 : 0));
        m.store.drain();
        assertThat(m.ls(inode, 100)).contains("19");
        assertThat(m.store.drain()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void unlink_ofABurstWhoseDeletionBreaksOff_leavesNoCallWaiting(boolean isError) throws Exception {
        m.mkdir("d");
        putMany("d", 20);
        unlinkMany("d", RemovalBurst.FIRST);
        m.faults.next(Call.Delete.class::isInstance, Fault.fail((message, cause) -> {
            if (isError) {
                throw new StackOverflowError("a bug");
            }
            throw new IllegalStateException("a bug");
        }));
        for (int i = RemovalBurst.FIRST; i < 19; i++) {
            m.unlink("d/" + i);
        }
        assertErrno(Errno.ENOTEMPTY, () -> m.rmdir("d"));
        m.unlink("d/19");
        assertErrno(Errno.ENOTEMPTY, () -> m.rmdir("d"));
        assertThat(m.stored("d/19")).isNull();
        m.rename("d", "e", 0);
        assertThat(m.lookup("e").isDirectory()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void unlink_ofABurstWithoutAResponse_callsCanBeInterrupted(boolean byFsync) throws Exception {
        m.mkdir("d");
        putMany("d", 20);
        long handle = m.fs.opendir(m.lookup("d").inode()).handle();
        unlinkMany("d", RemovalBurst.FIRST);
        try (Gate gate = m.delays.hold(Call.Delete.class::isInstance)) {
            for (int i = RemovalBurst.FIRST; i < 20; i++) {
                m.unlink("d/" + i);
            }
            gate.awaitHeld(1);
            FutureTask<Void> waiting = task(() -> assertErrno(Errno.EINTR, () -> {
                if (byFsync) {
                    m.fs.fsyncdir(handle);
                } else {
                    m.rmdir("d");
                }
            }));
            Thread waiter = Thread.startVirtualThread(waiting);
            while (waiter.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            waiter.interrupt();
            waiting.get();
        }
        m.fs.fsyncdir(handle);
        m.fs.releasedir(handle);
        m.rmdir("d");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void unlink_ofABurstThatAnotherNodeWrites_leavesThat(boolean isBefore) throws Exception {
        m.mkdir("d");
        putMany("d", 20);
        unlinkMany("d", 10);
        m.lookup("d/19"); // the version that rm sees
        if (isBefore) {
            m.bucket.put("d/19", "2");
        }
        try (Gate deleting = m.delays.hold(Call.Delete.class::isInstance)) {
            for (int i = 10; i < 20; i++) {
                m.unlink("d/" + i);
            }
            deleting.awaitHeld(1);
            m.bucket.put("d/19", "2"); // rm has returned, and its request is late
        }
        assertErrno(Errno.ENOTEMPTY, () -> m.rmdir("d"));
        assertThat(m.ls(m.lookup("d").inode(), 10)).containsExactly("19");
        assertThat(m.cat("d/19")).isEqualTo("2");
        m.unlink("d/19");
        m.rmdir("d");
    }

    @Test
    @Timeout(60)
    void unlink_ofABurstWhoseThreadsAreInterrupted_isDeletedByTheNext() throws Exception {
        m.mkdir("d");
        putMany("d", 40);
        long handle = m.fs.opendir(m.lookup("d").inode()).handle();
        unlinkMany("d", 10);
        m.fs.fsyncdir(handle);
        AtomicReference<Thread> deletes = new AtomicReference<>();
        m.faults.always(
                call -> {
                    if (call instanceof Call.Delete) {
                        deletes.set(Thread.currentThread());
                    }
                    return false;
                },
                Fault.fail(ObjectStoreException.Unavailable::new));
        for (int i = 10; i < 20; i++) { // more than the threads that may delete
            try (Gate deleting = m.delays.hold(Call.Delete.class::isInstance)) {
                m.unlink("d/" + i);
                deleting.awaitHeld(1);
                deletes.get().interrupt();
                assertErrno(Errno.EIO, () -> m.fs.fsyncdir(handle));
            }
        }
        for (int i = 10; i < 40; i++) {
            m.unlink("d/" + i);
        }
        m.fs.fsyncdir(handle);
        m.fs.releasedir(handle);
        m.rmdir("d");
    }

    /** By a path below /proc/self/fd, of a descriptor with O_PATH: the kernel looks up no name. */
    @Test
    void open_byDescriptorWhileABurstRemoves_isEstale() throws Exception {
        m.mkdir("d");
        putMany("d", 20);
        long inode = m.lookup("d/19").inode();
        unlinkMany("d", 10);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                Gate deleting = m.delays.hold(Call.Delete.class::isInstance);
                Gate asking = m.delays.holdAnswer(
                        call -> call instanceof Call.Head head && head.key().equals("d/19"))) {
            Future<?> early = threads.submit(() -> {
                assertErrno(Errno.ESTALE, () -> m.fs.open(inode, O_RDWR));
                return true;
            });
            asking.awaitHeld(1); // it has seen the file
            for (int i = 10; i < 20; i++) {
                m.unlink("d/" + i);
            }
            deleting.awaitHeld(1);
            asking.open();
            early.get();
            for (int flags : new int[] {0, O_RDWR}) {
                assertErrno(Errno.ESTALE, () -> m.fs.open(inode, flags));
            }
        }
        m.rmdir("d");
        assertErrno(Errno.ESTALE, () -> m.fs.open(inode, O_RDWR));
    }

    @Test
    void unlink_ofABurstOpenToRead_isRemovedAtOnce() throws Exception {
        m.mkdir("d");
        putMany("d", 20);
        OpenFile reader = m.open("d/19");
        unlinkMany("d", 20);
        assertThat(m.stored("d/19")).isNull();
        assertThat(m.fs.getattr(m.fs.inodeOf(reader.handle())).links()).isZero();
        m.fs.release(reader.handle());
    }

    @Test
    void renameOfADirectory_afterABurstOfRemovals_movesNoneOfThem() throws Exception {
        m.mkdir("d");
        putMany("d", 30);
        unlinkMany("d", 29);
        m.rename("d", "e", 0);
        assertThat(m.ls(m.lookup("e").inode(), 100)).containsExactly("29");
        assertThat(m.stored("e/28")).isNull();
    }

    @Test
    void rename_notYetCommittedAndOpen_goesUpOnceUnderTheNewName() throws Exception {
        m.mkdir("d");
        OpenFile file = m.create("a", O_WRONLY | O_EXCL);
        m.write(file, 0, "1");
        m.store.drain();

        m.rename("a", "d/b", 0);

        assertThat(m.cat("d/b")).isEqualTo("1");
        assertErrno(Errno.ENOENT, () -> m.lookup("a"));
        assertThat(m.ls(FileSystem.ROOT, 10)).containsExactly("d");
        m.write(file, 1, "2");
        m.close(file);
        assertThat(m.stored("d/b")).isEqualTo("12");
        assertThat(m.stored("a")).isNull();
        assertThat(m.store.writes()).singleElement().isInstanceOf(Call.Put.class);
    }

    @Test
    void rename_notYetCommittedOntoAnObject_replacesItWithTheClose() throws Exception {
        m.bucket.put("b", "old");
        OpenFile reader = m.open("b");
        OpenFile file = m.create("a", O_WRONLY);
        m.write(file, 0, "new");

        m.rename("a", "b", 0);

        assertThat(m.cat("b")).isEqualTo("new");
        assertThat(m.read(reader)).isEqualTo("old");
        assertThat(m.stored("b")).isEqualTo("old");
        m.close(file);
        assertThat(m.stored("b")).isEqualTo("new");
        m.close(reader);
    }

    @Test
    void rename_notYetCommittedOntoAnObject_replacesItsLastVersion() throws Exception {
        m.bucket.put("b", "old");
        m.lookup("b");
        m.bucket.put("b", "newer");
        OpenFile file = m.create("a", O_WRONLY);
        m.write(file, 0, "mine");

        m.rename("a", "b", 0);
        m.close(file);

        assertThat(m.stored("b")).isEqualTo("mine");
    }

    @Test
    void rename_notYetCommittedOntoAnObjectBeingWritten_replacesIt() throws Exception {
        for (boolean isOpen : new boolean[] {false, true}) {
            m.bucket.put("b", "old");
            m.clock.advance(Mounted.TTL);
            long inode = m.lookup("b").inode();
            OpenFile file = m.create("a", O_WRONLY);
            m.write(file, 0, "mine");
            FutureTask<Void> rename = task(() -> m.rename("a", "b", 0));
            AtomicBoolean first = new AtomicBoolean();
            OpenFile other;
            try (Gate asked =
                    m.delays.holdAnswer(call -> call instanceof Call.Head && first.compareAndSet(false, true))) {
                Thread.startVirtualThread(rename);
                asked.awaitHeld(1);
                other = m.fs.open(inode, O_WRONLY);
                m.setFlags(other, O_WRONLY);
                m.write(other, 0, "theirs, which is longer");
                m.fs.flush(other.handle());
                if (!isOpen) {
                    m.fs.release(other.handle());
                }
            }
            rename.get();

            m.close(file);
            m.drain();
            assertThat(m.stored("b")).isEqualTo("mine");
            assertThat(m.cat("b")).isEqualTo("mine");
            assertThat(m.uncommitted().failedFiles()).isZero();
            if (isOpen) {
                m.close(other);
            }
        }
    }

    @Test
    void unlink_renamedOntoAnObjectAndNotYetCommitted_removesThatToo() throws Exception {
        m.bucket.put("b", "old");
        OpenFile file = m.create("a", O_WRONLY);
        m.write(file, 0, "new");
        m.rename("a", "b", 0);

        m.unlink("b");

        m.close(file);
        assertThat(m.stored("a")).isNull();
        assertThat(m.stored("b")).isNull();
        assertErrno(Errno.ENOENT, () -> m.lookup("b"));
    }

    @Test
    void rename_notYetCommittedWithoutReplacing_isDecidedByTheStore() throws Exception {
        OpenFile file = m.create("a", O_WRONLY);
        m.write(file, 0, "1");
        assertErrno(Errno.ENOENT, () -> m.lookup("b"));
        m.bucket.put("b", "theirs");

        assertErrno(Errno.EEXIST, () -> m.rename("a", "b", 1));

        m.close(file);
        assertThat(m.stored("a")).isEqualTo("1");
        assertThat(m.stored("b")).isEqualTo("theirs");
    }

    @Test
    void rename_closedAndStaged_goesUpOnceUnderTheNewName() throws Exception {
        WritebackConfig config = Mounted.config(staging.resolve("staged"), WritebackConfig.Close.STAGED);
        try (Mounted staged = Mounted.writable(cache, new InMemoryObjectStore(), config)) {
            staged.save("a", "1");
            staged.rename("a", "b", 0);
            staged.drain();
            assertThat(staged.stored("b")).isEqualTo("1");
            assertThat(staged.store.writes()).singleElement().isInstanceOf(Call.Put.class);
        }
    }

    @Test
    void rename_whereTheCloseHasFailed_commitsFirstAndReports() throws Exception {
        OpenFile file = m.create("a", O_WRONLY);
        m.write(file, 0, "1");
        m.faults.always(Call.Put.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));
        assertErrno(Errno.EACCES, () -> m.fs.flush(file.handle()));
        assertErrno(Errno.EACCES, () -> m.rename("a", "b", 0));
        m.faults.heal();
        m.rename("a", "b", 0);
        assertThat(m.stored("b")).isEqualTo("1");
        m.fs.release(file.handle());
    }

    @Test
    void renameOfManyParts_temporaryName_sendsEachByteOnceCopiesNone() throws Exception {
        OpenFile file = m.create(".tmpAb12Cd", O_WRONLY | O_EXCL);
        String block = "x".repeat(Writeback.BLOCK_SIZE);
        int blocks = 6;
        m.truncate(".tmpAb12Cd", file, blocks * (long) Writeback.BLOCK_SIZE);
        for (int i = 0; i < blocks; i++) {
            m.write(file, i * (long) Writeback.BLOCK_SIZE, block);
        }

        m.rename(".tmpAb12Cd", "model.safetensors", 0);
        m.close(file);

        assertThat(m.stored(".tmpAb12Cd")).isNull();
        assertThat(m.lookup("model.safetensors").size()).isEqualTo(blocks * (long) Writeback.BLOCK_SIZE);
        assertThat(m.store.uploadedBytes()).isEqualTo(blocks * (long) Writeback.BLOCK_SIZE);
        assertThat(m.store.only(Call.Copy.class)).isEmpty();
    }

    @Test
    void rename_ontoAFileBeingWritten_endsThat() throws Exception {
        OpenFile loser = m.create("b", O_RDWR);
        m.write(loser, 0, "lost");
        m.save("a", "1");

        m.rename("a", "b", 0);

        assertThat(m.read(loser)).isEqualTo("lost");
        m.write(loser, 0, "L");
        m.close(loser);
        m.drain();
        assertThat(m.stored("b")).isEqualTo("1");
        assertThat(m.cat("b")).isEqualTo("1");
    }

    @Test
    void rename_ontoAFileThatIsBeingCommitted_makesNoConflictOfIt() throws Exception {
        m.bucket.put("a", "1");
        WritebackConfig config = Mounted.config(staging.resolve("b"), WritebackConfig.Close.STAGED);
        try (Mounted staged = Mounted.writable(cache, m.bucket, config)) {
            FutureTask<Void> rename = task(() -> staged.rename("a", "b", 0));
            try (Gate put = staged.delays.hold(Call.Put.class::isInstance);
                    Gate copied = staged.delays.holdAnswer(Call.Copy.class::isInstance)) {
                staged.save("b", "lost");
                put.awaitHeld(1);
                Thread thread = Thread.ofPlatform().start(rename);
                while (thread.getState() != Thread.State.WAITING) {
                    Thread.onSpinWait();
                }
                put.open();
                copied.awaitHeld(1);
                while (staged.uncommitted().backlogFiles() > 0) {
                    Thread.onSpinWait();
                }
            }
            rename.get();

            staged.drain();
            assertThat(staged.uncommitted().failedFiles()).isZero();
        }
        assertThat(m.stored("b")).isEqualTo("1");
        assertThat(m.stored("a")).isNull();
    }

    @Test
    void rename_ontoAnUncommittedFileDeniedByTheStore_leavesIt() throws Exception {
        m.save("a", "1");
        OpenFile file = m.create("b", O_WRONLY);
        m.write(file, 0, "mine");
        m.faults.next(Call.Copy.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));

        assertErrno(Errno.EACCES, () -> m.rename("a", "b", 0));

        m.close(file);
        m.drain();
        assertThat(m.stored("b")).isEqualTo("mine");
        assertThat(m.stored("a")).isEqualTo("1");
    }

    @Test
    void rename_writtenToAndClosedMeanwhile_hasItUnderTheNewName() throws Exception {
        m.save("a", "0");
        OpenFile writer = m.open("a", O_WRONLY);
        m.write(writer, 0, "one");
        FutureTask<Void> rename = task(() -> m.rename("a", "b", 0));
        try (Gate copied = m.delays.holdAnswer(Call.Copy.class::isInstance)) {
            Thread.startVirtualThread(rename);
            copied.awaitHeld(1);
            m.write(writer, 3, " and two"); // like the kernel's write-back of a mapping
            m.fs.release(writer.handle());
        }
        rename.get();

        m.drain();
        assertThat(m.stored("b")).isEqualTo("one and two");
        assertThat(m.stored("a")).isNull();
        assertThat(m.uncommitted().failedFiles()).isZero();
    }

    /** The open learns that the old name is current when it no longer is. */
    @Test
    void rename_openedToBeWrittenMeanwhile_hasTheEditUnderTheNewName() throws Exception {
        m.bucket.put("a", "1");
        long inode = m.lookup("a").inode();
        FutureTask<OpenFile> opening = new FutureTask<>(() -> m.fs.open(inode, O_WRONLY));
        try (Gate asked = m.delays.holdAnswer(call -> call.equals(new Call.Head("a")))) {
            Thread.startVirtualThread(opening);
            asked.awaitHeld(1);
            m.rename("a", "b", 0);
        }

        OpenFile writer = opening.get();
        m.write(writer, 0, "2");
        m.close(writer);

        assertThat(m.stored("b")).isEqualTo("2");
        assertThat(m.stored("a")).isNull();
    }

    @Test
    void rename_writtenFileKeepsItsOldName_handleHasTheNewOne() throws Exception {
        m.save("a", "0");
        OpenFile writer = m.open("a", O_WRONLY);
        m.write(writer, 0, "1");
        m.faults.next(Call.Delete.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));

        assertErrno(Errno.EACCES, () -> m.rename("a", "b", 0));

        m.write(writer, 1, "2");
        m.close(writer);
        assertThat(m.cat("a")).isEqualTo("1");
        assertThat(m.cat("b")).isEqualTo("12");
        assertThat(m.stored("b")).isEqualTo("12");
    }

    @Test
    void rename_oldNameCannotBeRemoved_hasTheKernelLookItUpAgain() throws Exception {
        NotifiedKernel kernel = new NotifiedKernel();
        m.fs.addListener(kernel);
        m.bucket.put("a", "1");
        long inode = m.lookup("a").inode();
        OpenFile reader = m.open("a");
        m.faults.next(Call.Delete.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));

        assertErrno(Errno.EACCES, () -> m.rename("a", "b", 0));

        assertThat(kernel.drain()).contains("name 1/a");
        assertThat(m.lookup("b").inode()).isEqualTo(inode);
        assertThat(m.lookup("a").inode()).isNotEqualTo(inode);
        OpenFile writer = m.open("a", O_WRONLY);
        m.write(writer, 1, "2");
        m.close(writer);
        assertThat(m.stored("a")).isEqualTo("12");
        assertThat(m.read(reader)).isEqualTo("1");
        m.fs.release(reader.handle());
    }

    /** Renames, and is interrupted while the old name is deleted. */
    private void renameInterrupted(String from, String to) throws Exception {
        FutureTask<Void> rename = task(() -> assertErrno(Errno.EINTR, () -> m.rename(from, to, 0)));
        try (Gate gate = m.delays.hold(Call.Delete.class::isInstance)) {
            Thread thread = Thread.ofPlatform().start(rename);
            gate.awaitHeld(1);
            thread.interrupt();
            rename.get();
        }
    }

    /** A user's later change of the new name is not mistaken for the copy. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rename_againAfterTheCopyHasGone_copiesAgain(boolean interrupted) throws Exception {
        m.bucket.put("a", "1");
        OpenFile reader = m.open("a");
        if (interrupted) {
            renameInterrupted("a", "b");
        } else {
            m.faults.next(Call.Delete.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));
            assertErrno(Errno.EACCES, () -> m.rename("a", "b", 0));
        }
        m.bucket.put("b", "of another node");

        m.rename("a", "b", 0);

        assertThat(m.stored("a")).isNull();
        assertThat(m.stored("b")).isEqualTo("1");
        m.close(reader);
    }

    @Test
    void rename_repeatedAfterAnInterrupt_removesTheOldName() throws Exception {
        m.save("a", "0");
        OpenFile writer = m.open("a", O_WRONLY);
        m.write(writer, 0, "1");
        renameInterrupted("a", "b");
        m.write(writer, 1, "2");
        OpenFile reader = m.open("a");
        assertThat(m.read(reader)).isEqualTo("1");

        m.rename("a", "b", 0);

        m.close(writer);
        assertThat(m.stored("b")).isEqualTo("12");
        assertThat(m.stored("a")).isNull();
        assertThat(m.read(reader)).isEqualTo("1");
        m.close(reader);
    }

    @Test
    void rename_againAfterTheOldNameWasWrittenAnew_movesThat() throws Exception {
        m.bucket.put("a", "1");
        m.faults.next(Call.Delete.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));
        assertErrno(Errno.EACCES, () -> m.rename("a", "b", 0));
        m.save("a", "new");

        m.rename("a", "b", 0);

        assertThat(m.stored("b")).isEqualTo("new");
        assertThat(m.stored("a")).isNull();
    }

    @Test
    void rename_oldNameRemovedWithoutAnAnswer_hasSucceeded() throws Exception {
        OpenFile writer = m.create("a", O_WRONLY);
        m.write(writer, 0, "1");
        m.faults.next(Call.Delete.class::isInstance, Fault.failAfterwards(ObjectStoreException.Unavailable::new));

        m.rename("a", "b", 0);

        m.write(writer, 1, "2");
        m.close(writer);
        assertThat(m.stored("a")).isNull();
        assertThat(m.stored("b")).isEqualTo("12");
    }

    @Test
    void rename_closedMeanwhileOldNameNotRemovable_leavesBoth() throws Exception {
        OpenFile writer = m.create("a", O_WRONLY);
        m.write(writer, 0, "1");
        m.fs.flush(writer.handle());
        long inode = m.lookup("a").inode();
        FutureTask<Void> rename = task(() -> assertErrno(Errno.EINTR, () -> m.rename("a", "b", 0)));
        try (Gate gate = m.delays.hold(Call.Delete.class::isInstance)) {
            Thread thread = Thread.ofPlatform().start(rename);
            gate.awaitHeld(1);
            m.fs.release(writer.handle());
            thread.interrupt();
            rename.get();
        }
        assertBothStand(inode);
    }

    @Test
    void rename_closedDuringTheCopyOldNameNotRemovable_leavesBoth() throws Exception {
        leavesBothOfWhatIsClosed(m.delays.holdAnswer(Call.Copy.class::isInstance));
    }

    private void leavesBothOfWhatIsClosed(Gate meanwhile) throws Exception {
        OpenFile writer = m.create("a", O_WRONLY);
        m.write(writer, 0, "1");
        m.fs.flush(writer.handle());
        long inode = m.lookup("a").inode();
        m.faults.next(Call.Delete.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));
        FutureTask<Void> rename = task(() -> assertErrno(Errno.EACCES, () -> m.rename("a", "b", 0)));
        try (meanwhile) {
            Thread.startVirtualThread(rename);
            meanwhile.awaitHeld(1);
            m.fs.release(writer.handle());
        }
        rename.get();
        assertBothStand(inode);
    }

    private void assertBothStand(long inode) throws Exception {
        assertThat(m.lookup("a").inode()).isNotEqualTo(inode);
        assertThat(m.lookup("b").inode()).isEqualTo(inode);
        assertThat(m.cat("a")).isEqualTo("1");
        assertThat(m.cat("b")).isEqualTo("1");
    }

    @Test
    void rename_interruptedDuringTheRemoval_endsWhenRepeated() throws Exception {
        m.save("a", "0");
        OpenFile writer = m.open("a", O_WRONLY);
        m.write(writer, 0, "1");
        FutureTask<Boolean> rename = new FutureTask<>(() -> {
            assertErrno(Errno.EINTR, () -> m.rename("a", "b", 0));
            return Thread.currentThread().isInterrupted();
        });
        try (Gate gate = m.delays.hold(Call.Delete.class::isInstance)) {
            Thread thread = Thread.ofPlatform().start(rename);
            gate.awaitHeld(1);
            thread.interrupt();
            assertThat(rename.get()).isTrue();
        }

        m.write(writer, 1, "2");
        m.rename("a", "b", 0); // like Go
        m.write(writer, 2, "3");
        m.close(writer);
        m.drain();
        assertThat(m.stored("b")).isEqualTo("123");
        assertThat(m.stored("a")).isNull();
    }

    @Test
    void rename_copiedWithoutAnAnswer_showsTheCopy() throws Exception {
        m.bucket.put("a", "1");
        assertErrno(Errno.ENOENT, () -> m.lookup("b"));
        m.faults.next(Call.Copy.class::isInstance, Fault.failAfterwards(ObjectStoreException.Unavailable::new));

        assertErrno(Errno.EIO, () -> m.rename("a", "b", 0));

        assertThat(m.cat("b")).isEqualTo("1");
        assertThat(m.cat("a")).isEqualTo("1");
    }

    @Test
    void rename_replacedBySomebodyElseMeanwhile_leavesTheirs() throws Exception {
        m.bucket.put("a", "1");
        FutureTask<Void> rename = task(() -> m.rename("a", "b", 0));
        try (Gate copied = m.delays.holdAnswer(Call.Copy.class::isInstance)) {
            Thread.startVirtualThread(rename);
            copied.awaitHeld(1);
            m.bucket.put("a", "theirs");
        }
        rename.get();

        assertThat(m.stored("a")).isEqualTo("theirs");
        assertThat(m.cat("a")).isEqualTo("theirs");
        assertThat(m.cat("b")).isEqualTo("1");
    }

    @Test
    void rmdir_removedWhileOpenAndMadeAnewBySomebodyElse_isEnotempty() throws Exception {
        m.mkdir("d");
        m.bucket.put("d/a", "1");
        OpenFile reader = m.open("d/a");
        m.unlink("d/a");
        m.bucket.put("d/a", "theirs");

        assertErrno(Errno.ENOTEMPTY, () -> m.rmdir("d"));

        m.fs.release(reader.handle());
        m.drain();
        assertThat(m.stored("d/a")).isEqualTo("theirs");
    }

    @Test
    void rename_flags_areHeededOrRefused() throws Exception {
        m.bucket.put("a", "1");
        m.bucket.put("b", "2");
        m.bucket.put("d/x", "3");

        assertErrno(Errno.EEXIST, () -> m.rename("a", "b", NOREPLACE));
        assertErrno(Errno.EINVAL, () -> m.rename("a", "b", EXCHANGE));
        assertErrno(Errno.EISDIR, () -> m.rename("a", "d", 0));
        assertErrno(Errno.EINVAL, () -> m.rename("d", "a", EXCHANGE));
        assertErrno(Errno.ENOENT, () -> m.rename("none", "e", 0));
        m.rename("a", "a", 0);
        m.rename("a", "c", NOREPLACE);
        assertThat(m.stored("c")).isEqualTo("1");
    }

    @Test
    void rename_withoutReplacingAndSomebodyElseWasFaster_isEexist() throws Exception {
        m.bucket.put("a", "1");
        assertErrno(Errno.ENOENT, () -> m.lookup("b"));
        m.bucket.put("b", "theirs");

        assertErrno(Errno.EEXIST, () -> m.rename("a", "b", NOREPLACE));

        assertThat(m.stored("b")).isEqualTo("theirs");
        assertThat(m.cat("a")).isEqualTo("1");
    }

    @Test
    void rename_sourceReplacedMeanwhile_isEstaleAndThenSeesIt() throws Exception {
        m.bucket.put("a", "1");
        m.lookup("a");
        m.bucket.put("a", "2");

        assertErrno(Errno.ESTALE, () -> m.rename("a", "b", 0));

        m.rename("a", "b", 0);
        assertThat(m.stored("b")).isEqualTo("2");
    }

    // ---- listings

    @Test
    void readdir_whileNamesChange_keepsItsOffsets() throws Exception {
        m.bucket.put("x", "1");
        OpenFile a = m.create("a", O_WRONLY);
        OpenFile b = m.create("b", O_WRONLY);
        long handle = m.fs.opendir(FileSystem.ROOT).handle();
        int[] seen = {0};
        long[] offset = {0};
        m.fs.readdir(handle, 0, (name, attributes, next) -> {
            if (seen[0] == 3) {
                return false;
            }
            seen[0]++;
            offset[0] = next;
            return true;
        });

        m.write(a, 0, "1");
        m.write(b, 0, "1");
        m.close(a);
        m.close(b);
        m.save("c", "1");

        assertThat(m.ls(handle, offset[0], 1))
                .hasSizeBetween(2, 3)
                .contains("x")
                .doesNotHaveDuplicates();
        assertThat(m.ls(handle, 0, 1)).containsExactlyInAnyOrder(".", "..", "a", "b", "c", "x");
        m.fs.releasedir(handle);
    }

    private static FutureTask<Void> task(ThrowingCallable call) {
        return new FutureTask<>(() -> {
            try {
                call.call();
                return null;
            } catch (Exception | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void unlink_whileTheStoreDecides_canBeInterrupted(boolean byRename) throws Exception {
        m.save("other", "2");
        OpenFile file = m.create("a", O_WRONLY);
        m.write(file, 0, "1");
        try (Gate gate = m.delays.hold(Call.Put.class::isInstance)) {
            FutureTask<Boolean> closed = new FutureTask<>(() -> {
                m.fs.flush(file.handle());
                return true;
            });
            Thread.startVirtualThread(closed);
            gate.awaitHeld(1);
            FutureTask<Boolean> removed = new FutureTask<>(() -> {
                assertErrno(Errno.EINTR, () -> {
                    if (byRename) {
                        m.rename("other", "a", 0);
                    } else {
                        m.unlink("a");
                    }
                });
                return true;
            });
            Thread remover = Thread.startVirtualThread(removed);
            while (remover.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            remover.interrupt();
            removed.get();
            assertThat(m.lookup("a").size()).isEqualTo(1);
            gate.open();
            closed.get();
        }
        m.fs.release(file.handle());
        assertThat(m.stored("a")).isEqualTo("1");
        assertThat(m.stored("other")).isEqualTo("2");
    }
}
