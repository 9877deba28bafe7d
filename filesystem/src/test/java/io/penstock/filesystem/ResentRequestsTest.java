package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.CREATOR;
import static io.penstock.filesystem.Mounted.O_EXCL;
import static io.penstock.filesystem.Mounted.O_WRONLY;
import static io.penstock.filesystem.Mounted.assertErrno;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.KernelRequest;
import io.penstock.filesystem.kernel.NotifiedKernel;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.metadata.Directory;
import io.penstock.metadata.attributes.KeptAttributes.Keeping;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.Fault;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.writeback.WritebackConfig.Close;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Changing requests that the kernel sends again, to the next process of a mount. The former process has executed them or
 * not; or another client has made what they would have made, with the same name and content.
 */
@Timeout(60)
class ResentRequestsTest extends OverOneCache {
    private static final long ROOT = FileSystem.ROOT;
    private static final long MOUNT = 5;
    private static final long REQUEST = 8;
    private static final int NOREPLACE = 1;
    private static final int FIFO = 0010644;
    private static final int FILE = 0100644;

    @TempDir
    private Path formerStaging;

    @TempDir
    private Path staging;

    private Mounted former;
    private Mounted m;

    @BeforeEach
    void mount() {
        former = Mounted.keeping(cache, formerStaging, null, Keeping.KEEP);
        m = Mounted.keeping(cache, staging, former.bucket, Keeping.KEEP);
        m.fs.addListener(new NotifiedKernel());
    }

    @AfterEach
    void nothingIsLeft() {
        m.close();
        former.close();
    }

    /** A request. */
    interface Request {
        void make(Mounted of) throws ErrnoException;
    }

    /** Requests that make a new name, {@code new}. */
    enum Making implements Request {
        MKDIR,
        MKNOD,
        MKNOD_OF_FILE,
        SYMLINK,
        LINK,
        RENAME_NOREPLACE;

        @Override
        public void make(Mounted of) throws ErrnoException {
            switch (this) {
                case MKDIR -> of.mkdir("new");
                case MKNOD -> forget(of, of.fs.mknod(ROOT, "new", FIFO, 0, CREATOR));
                case MKNOD_OF_FILE -> forget(of, of.fs.mknod(ROOT, "new", FILE, 0, CREATOR));
                case SYMLINK -> forget(of, of.fs.symlink("target", ROOT, "new", CREATOR));
                case LINK -> forget(of, of.fs.link(of.lookup("old").inode(), ROOT, "new"));
                case RENAME_NOREPLACE -> of.rename("old", "new", NOREPLACE);
            }
        }
    }

    private static void forget(Mounted of, Attributes made) {
        of.fs.forget(made.inode(), 1);
    }

    /** The former process executes it. */
    private void executed(Request request) throws ErrnoException {
        serve(former, false, request);
    }

    /** The next process gets it. */
    private void resent(Request request) throws ErrnoException {
        serve(m, true, request);
    }

    private static void serve(Mounted by, boolean isResent, Request request) throws ErrnoException {
        new KernelRequest(MOUNT, REQUEST, isResent).<Boolean, ErrnoException>serve(() -> {
            request.make(by);
            return true;
        });
    }

    @ParameterizedTest
    @EnumSource
    void making_executedBefore_succeeds(Making making) throws Exception {
        former.bucket.put("old", "content");
        executed(making);
        resent(making);
        assertThat(m.lookup("new").inode()).isPositive();
    }

    @ParameterizedTest
    @EnumSource
    void making_notExecutedBefore_isMadeNow(Making making) throws Exception {
        former.bucket.put("old", "content");
        resent(making);
        assertThat(m.lookup("new").inode()).isPositive();
    }

    @ParameterizedTest
    @EnumSource
    void making_nameOfAnotherClient_isEexist(Making making) throws Exception {
        former.bucket.put("old", "content");
        making.make(former);
        former.bucket.put("old", "content"); // RENAME has taken it
        assertErrno(Errno.EEXIST, () -> resent(making));
    }

    /** This process does not know yet that the name exists: the store's refusal comes first. */
    @ParameterizedTest
    @EnumSource
    void making_knownAsAbsent_isSettledByTheStore(Making making) throws Exception {
        former.bucket.put("old", "content");
        m.lookup("old");
        assertErrno(Errno.ENOENT, () -> m.lookup("new"));
        executed(making);
        resent(making);
    }

    @ParameterizedTest
    @EnumSource
    void making_anothersNameKnownAsAbsent_isEexist(Making making) throws Exception {
        former.bucket.put("old", "content");
        m.lookup("old");
        assertErrno(Errno.ENOENT, () -> m.lookup("new"));
        making.make(former);
        former.bucket.put("old", "content");
        assertErrno(Errno.EEXIST, () -> resent(making));
    }

    @ParameterizedTest
    @EnumSource
    void making_otherRequestOfTheSameMount_isEexist(Making making) throws Exception {
        former.bucket.put("old", "content");
        new KernelRequest(MOUNT, REQUEST - 2, false).<Boolean, ErrnoException>serve(() -> {
            making.make(former);
            return true;
        });
        former.bucket.put("old", "content");
        assertErrno(Errno.EEXIST, () -> resent(making));
    }

    @Test
    void mkdir_overAFileOfThatName_isEexist() throws Exception {
        executed(of -> of.mkdir("new"));
        former.rmdir("new");
        former.bucket.put("new", "");
        assertErrno(Errno.EEXIST, () -> resent(of -> of.mkdir("new")));
    }

    // ---- create

    @Test
    void create_byTheSameRequest_isOpenedOnceMore() throws Exception {
        OpenFile[] files = new OpenFile[2];
        serve(m, false, of -> files[0] = of.create("a", O_WRONLY | O_EXCL));
        long inode = m.lookup("a").inode();

        assertErrno(Errno.EEXIST, () -> m.create("a", O_WRONLY | O_EXCL));
        resent(of -> files[1] = of.create("a", O_WRONLY | O_EXCL));

        assertThat(m.lookup("a").inode()).isEqualTo(inode);
        m.fs.release(files[0].handle());
        m.write(files[1], 0, "written");
        m.close(files[1]);
        assertThat(m.stored("a")).isEqualTo("written");
    }

    @Test
    void create_nameOfAnotherProgram_isEexist() throws Exception {
        OpenFile theirs = m.create("a", O_WRONLY | O_EXCL);
        assertErrno(Errno.EEXIST, () -> resent(of -> of.create("a", O_WRONLY | O_EXCL)));
        assertErrno(Errno.ESTALE, () -> resent(of -> of.fs.create(ROOT, "a", FILE, CREATOR, O_WRONLY)));
        m.close(theirs);
    }

    @Test
    void create_exclusiveByTheStore_isOfTheRequestThatMadeIt(@TempDir Path first, @TempDir Path second)
            throws Exception {
        InMemoryObjectStore bucket = former.bucket;
        Request create = of -> of.fs.release(of.create("a", O_WRONLY | O_EXCL).handle());
        try (Mounted before = Mounted.exclusive(cache, bucket, Mounted.config(first, Close.VISIBLE));
                Mounted after = Mounted.exclusive(cache, bucket, Mounted.config(second, Close.VISIBLE))) {
            serve(before, false, create);
            serve(after, true, create);
            assertThat(after.stored("a")).isEmpty();

            bucket.put("a", ""); // another client's, with the same content
            after.clock.advance(Mounted.TTL.plusSeconds(1));
            assertErrno(Errno.EEXIST, () -> serve(after, true, create));
        }
    }

    // ---- removals

    @Test
    void unlink_executedBefore_succeedsAndDetachesTheInode() throws Exception {
        former.bucket.put("a", "content");
        long inode = m.lookup("a").inode();
        executed(of -> of.unlink("a"));
        m.clock.advance(Mounted.TTL.plusSeconds(1));

        resent(of -> of.unlink("a"));
        assertThat(m.fs.pathOf(inode)).isNull();
        assertErrno(Errno.ENOENT, () -> m.unlink("a"));
    }

    @Test
    void unlink_notExecutedBefore_removesTheCurrentVersion() throws Exception {
        former.bucket.put("a", "content");
        m.lookup("a");
        former.bucket.put("a", "newer");
        resent(of -> of.unlink("a"));
        assertThat(m.stored("a")).isNull();
    }

    @Test
    void rmdir_executedBefore_succeedsAndDetachesTheInode() throws Exception {
        former.mkdir("d");
        long inode = m.lookup("d").inode();
        executed(of -> of.rmdir("d"));
        m.clock.advance(Mounted.TTL.plusSeconds(1));

        resent(of -> of.rmdir("d"));
        assertErrno(Errno.ENOENT, () -> m.rmdir("d"));
        m.mkdir("d");
        assertThat(m.lookup("d").inode()).isNotEqualTo(inode);
    }

    // ---- renames

    @Test
    void rename_executedBefore_movesTheInodeAndItsHandles() throws Exception {
        former.bucket.put("a", "content");
        former.bucket.put("b", "replaced");
        long inode = m.lookup("a").inode();
        OpenFile open = m.open("a");
        long replaced = m.lookup("b").inode();
        executed(of -> of.rename("a", "b", 0));
        m.clock.advance(Mounted.TTL.plusSeconds(1));

        resent(of -> of.rename("a", "b", 0));
        assertThat(m.fs.pathOf(inode)).isEqualTo("/b");
        assertThat(m.fs.pathOf(replaced)).isNull();
        assertThat(m.lookup("b").inode()).isEqualTo(inode);
        assertThat(m.read(open)).isEqualTo("content");
        m.fs.release(open.handle());
        assertErrno(Errno.ENOENT, () -> m.rename("a", "b", 0));
    }

    @Test
    void rename_killedBeforeTheDeletion_onlyDeletes() throws Exception {
        former.bucket.put("a", "content");
        long inode = m.lookup("a").inode();
        former.faults.always(call -> call instanceof Call.Delete, Fault.fail(ObjectStoreException.AccessDenied::new));
        assertErrno(Errno.EACCES, () -> executed(of -> of.rename("a", "b", 0)));
        former.faults.heal();
        m.drainCalls();

        resent(of -> of.rename("a", "b", 0));
        assertThat(m.drainCalls()).noneMatch(call -> call instanceof Call.Copy);
        assertThat(m.stored("a")).isNull();
        assertThat(m.stored("b")).isEqualTo("content");
        assertThat(m.fs.pathOf(inode)).isEqualTo("/b");
    }

    @Test
    void rename_oldNameWrittenAgainByAnotherClient_leavesThatFile() throws Exception {
        former.bucket.put("a", "content");
        executed(of -> of.rename("a", "b", 0));
        former.clock.advance(Duration.ofSeconds(1));
        former.bucket.put("a", "content");

        resent(of -> of.rename("a", "b", 0));
        assertThat(m.stored("a")).isEqualTo("content");
        assertThat(m.stored("b")).isEqualTo("content");
    }

    @Test
    void rename_notExecutedBefore_isMadeNow() throws Exception {
        former.bucket.put("a", "content");
        former.bucket.put("b", "content");
        resent(of -> of.rename("a", "b", 0));
        assertThat(m.stored("a")).isNull();
        assertThat(m.stored("b")).isEqualTo("content");
    }

    @Test
    void rename_noReplaceAndTheNewNameIsAnothers_isEnoent() throws Exception {
        former.bucket.put("b", "content"); // and another client has removed a
        assertErrno(Errno.ENOENT, () -> resent(of -> of.rename("a", "b", NOREPLACE)));
    }

    @Test
    void rename_directoryExecutedBefore_movesTheInodesInIt() throws Exception {
        former.bucket.put("d/f", "content");
        long directory = m.lookup("d").inode();
        long file = m.lookup("d/f").inode();
        executed(of -> of.rename("d", "e", 0));
        m.clock.advance(Mounted.TTL.plusSeconds(1));

        resent(of -> of.rename("d", "e", 0));
        assertThat(m.fs.pathOf(directory)).isEqualTo("/e/");
        assertThat(m.fs.pathOf(file)).isEqualTo("/e/f");
        assertThat(m.cat("e/f")).isEqualTo("content");
    }

    /** The former process was killed after it had created the file, and its successor closed and committed it. */
    @Test
    void create_exclusiveCommittedMeanwhile_opensTheRequestsOwnFile() throws Exception {
        executed(of -> {
            CreatedFile created = of.fs.create(ROOT, "lock", FILE, CREATOR, OpenFlags.O_WRONLY | OpenFlags.O_EXCL);
            of.fs.flush(created.open().handle());
            of.fs.release(created.open().handle());
            of.fs.forget(created.attributes().inode(), 1);
        });
        former.drain();
        resent(of -> {
            CreatedFile created = of.fs.create(ROOT, "lock", FILE, CREATOR, OpenFlags.O_WRONLY | OpenFlags.O_EXCL);
            of.fs.release(created.open().handle());
            of.fs.forget(created.attributes().inode(), 1);
        });
        former.bucket.put("lock", "");
        assertErrno(
                Errno.EEXIST,
                () -> resent(of -> of.fs.create(ROOT, "lock", FILE, CREATOR, OpenFlags.O_WRONLY | OpenFlags.O_EXCL)));
    }

    /** The former process never got the response to the copy of f. */
    @Test
    void rename_directoryKilledDuringItsCopies_isMadeAgain() throws Exception {
        former.bucket.put("d/f", "content");
        former.bucket.put("d/g", "other");
        former.bucket.put("e/f", "content");
        resent(of -> of.rename("d", "e", 0));
        assertThat(m.stored("e/f")).isEqualTo("content");
        assertThat(m.stored("e/g")).isEqualTo("other");
        assertThat(m.stored("d/f")).isNull();
        assertThat(m.stored("d/g")).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"e/f", "e/x"})
    void rename_directoryWithAnotherClientsFileAtTheNewName_isEnotempty(String others) throws Exception {
        former.bucket.put("d/f", "content");
        former.bucket.put(others, "another");
        assertErrno(Errno.ENOTEMPTY, () -> resent(of -> of.rename("d", "e", 0)));
        assertThat(m.stored("d/f")).isEqualTo("content");
        assertThat(m.stored(others)).isEqualTo("another");
    }

    /** The kernel knows the old name: so this mount shows it, as it may have lost its last file here. */
    @Test
    void rename_directoryExecutedBeforeAndStillShown_isDone() throws Exception {
        former.bucket.put("d/sub/f", "content");
        executed(of -> of.rename("d", "e", 0));
        m.tree.keep(new Directory("d/"));
        m.tree.keep(new Directory("d/sub/"));
        resent(of -> of.rename("d", "e", 0));
        assertThat(m.cat("e/sub/f")).isEqualTo("content");
    }

    // ---- extended attributes

    private static void setNew(Mounted of) throws ErrnoException {
        of.fs.setxattr(of.lookup("a").inode(), "user.k", "v".getBytes(UTF_8), AttributeChanges.XATTR_CREATE);
    }

    private static void remove(Mounted of) throws ErrnoException {
        of.fs.removexattr(of.lookup("a").inode(), "user.k");
    }

    @Test
    void setxattr_executedBefore_succeeds() throws Exception {
        former.bucket.put("a", "content");
        executed(ResentRequestsTest::setNew);
        resent(ResentRequestsTest::setNew);
        assertThat(m.fs.getxattr(m.lookup("a").inode(), "user.k")).isEqualTo("v".getBytes(UTF_8));
    }

    @Test
    void setxattr_setByAnotherClient_isEexist() throws Exception {
        former.bucket.put("a", "content");
        setNew(former);
        assertErrno(Errno.EEXIST, () -> resent(ResentRequestsTest::setNew));
    }

    @Test
    void setxattr_onADirectory_isOfTheRequestThatSetIt() throws Exception {
        former.mkdir("a");
        executed(ResentRequestsTest::setNew);
        resent(ResentRequestsTest::setNew);

        remove(former);
        setNew(former);
        m.clock.advance(Mounted.TTL.plusSeconds(1));
        assertErrno(Errno.EEXIST, () -> resent(ResentRequestsTest::setNew));
    }

    @Test
    void removexattr_executedBefore_succeeds() throws Exception {
        former.bucket.put("a", "content");
        setNew(former);
        executed(ResentRequestsTest::remove);
        resent(ResentRequestsTest::remove);
        assertErrno(Errno.ENODATA, () -> remove(m));
    }
}
