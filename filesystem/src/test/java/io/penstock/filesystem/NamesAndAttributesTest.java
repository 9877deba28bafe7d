package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.assertErrno;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.Errno;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.names.NoEntryException;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.Content;
import io.penstock.testing.Fault;
import io.penstock.testing.Gate;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** lookup, forget, getattr, access, xattrs and statfs. */
@Timeout(60)
class NamesAndAttributesTest extends OverOneCache {
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
    void getattr_root_isADirectoryOfTheMountTime() throws Exception {
        assertThat(m.fs.getattr(FileSystem.ROOT))
                .isEqualTo(new Attributes(
                        FileSystem.ROOT,
                        0040751,
                        1,
                        Mounted.UID,
                        Mounted.GID,
                        4096,
                        Mounted.MOUNT_TIME,
                        Mounted.MOUNT_TIME,
                        Mounted.MOUNT_TIME,
                        0,
                        Long.MAX_VALUE,
                        FileSystem.ROOT));
        assertThat(m.drainCalls()).isEmpty();
    }

    @Test
    void lookup_laterInItsTime_isBelievedForTheRestOfIt() throws Exception {
        m.bucket.put("a", "hello");
        m.lookup("a");
        m.clock.advance(Mounted.TTL.minusSeconds(20));

        assertThat(m.lookup("a").validNanos()).isEqualTo(Duration.ofSeconds(20).toNanos());
        assertThat(m.fs.getattr(m.lookup("a").inode()).validNanos())
                .isEqualTo(Duration.ofSeconds(20).toNanos());
    }

    @Test
    void lookup_absentLaterInItsTime_isBelievedForTheRestOfIt() throws Exception {
        assertErrno(Errno.ENOENT, () -> m.lookup("nothing"));
        m.clock.advance(Mounted.NEGATIVE_TTL.minusSeconds(2));

        assertThatThrownBy(() -> m.lookup("nothing"))
                .isInstanceOfSatisfying(
                        NoEntryException.class,
                        absent -> assertThat(absent.validNanos())
                                .isEqualTo(Duration.ofSeconds(2).toNanos()));
    }

    @Test
    void lookup_file_showsSizeAndTimeOfTheObject() throws Exception {
        ObjectVersion version = m.bucket.put("a", "hello");

        Attributes found = m.lookup("a");

        assertThat(found)
                .isEqualTo(new Attributes(
                        found.inode(),
                        0100640,
                        1,
                        Mounted.UID,
                        Mounted.GID,
                        5,
                        version.lastModified(),
                        version.lastModified(),
                        version.lastModified(),
                        0,
                        Mounted.TTL.toNanos(),
                        found.inode()));
        assertThat(m.fs.getattr(found.inode())).isEqualTo(found);
        assertThat(m.fs.getattrNow(found.inode())).isEqualTo(found);
        assertThat(m.drainCalls()).hasSize(2);
    }

    @Test
    void lookup_again_isTheSameInode() throws Exception {
        m.bucket.put("d/a", "");
        Attributes first = m.lookup("d/a");

        assertThat(m.lookup("d/a").inode()).isEqualTo(first.inode());
    }

    @Test
    void forget_allLookups_freesTheInodeAndItsNumberComesBack() throws Exception {
        m.bucket.put("a", "");
        Attributes first = m.fs.lookup(FileSystem.ROOT, "a");
        m.fs.lookup(FileSystem.ROOT, "a");

        m.fs.forget(first.inode(), 2);

        assertErrno(Errno.ESTALE, () -> m.fs.getattr(first.inode()));
        assertThat(m.lookup("a").inode()).isEqualTo(first.inode());
    }

    @Test
    void lookup_nothing_isEnoent() {
        assertErrno(Errno.ENOENT, () -> m.lookup("nothing"));
        assertErrno(Errno.ENOENT, () -> m.fs.lookupNow(FileSystem.ROOT, "nothing"));
    }

    @Test
    void lookup_inFile_isEnotdir() throws Exception {
        m.bucket.put("a", "");
        long inode = m.lookup("a").inode();

        assertErrno(Errno.ENOTDIR, () -> m.fs.lookup(inode, "b"));
        assertErrno(Errno.ENOTDIR, () -> m.fs.opendir(inode));
    }

    @Test
    void lookup_nameOver255Bytes_isEnametoolong() {
        assertErrno(Errno.ENAMETOOLONG, () -> m.lookup("é".repeat(128)));
        assertErrno(Errno.ENAMETOOLONG, () -> m.fs.lookupNow(FileSystem.ROOT, "x".repeat(256)));
        assertErrno(Errno.ENOENT, () -> m.lookup("x".repeat(255)));
    }

    @Test
    void lookupNow_unknownName_isNullAndAsksNothing() throws Exception {
        m.bucket.put("a", "");

        assertThat(m.fs.lookupNow(FileSystem.ROOT, "a")).isNull();
        assertThat(m.drainCalls()).isEmpty();

        long inode = m.lookup("a").inode();
        assertThat(m.fs.lookupNow(FileSystem.ROOT, "a")).isNotNull();
        m.fs.forget(inode, 1);
        m.clock.advance(Mounted.TTL);
        assertThat(m.fs.getattrNow(inode)).isNull();
    }

    @Test
    void callsNow_afterTheirTime_areNullAndAskNothing() throws Exception {
        m.bucket.put("d/a", "");
        long directory = m.lookup("d").inode();
        long inode = m.lookup("d/a").inode();

        assertThat(m.fs.getxattrNow(inode, "user.penstock.key")).asString(UTF_8).isEqualTo("d/a");
        assertThat(m.fs.listxattrNow(inode)).isEqualTo(m.fs.listxattr(inode));
        m.fs.releasedir(requireNonNull(m.fs.opendirNow(directory)).handle());
        m.clock.advance(Mounted.TTL);
        m.drainCalls();

        assertThat(m.fs.getxattrNow(inode, "user.penstock.key")).isNull();
        assertErrno(Errno.EOPNOTSUPP, () -> m.fs.getxattrNow(inode, "security.capability"));
        assertErrno(Errno.EOPNOTSUPP, () -> m.fs.getxattr(inode, "security.capability"));
        assertThat(m.fs.listxattrNow(inode)).isNull();
        assertThat(m.fs.opendirNow(directory)).isNull();
        assertThat(m.drainCalls()).isEmpty();
    }

    @Test
    void getattr_nameGone_isEstale() throws Exception {
        m.bucket.put("a", "");
        long inode = m.lookup("a").inode();
        m.bucket.delete("a");
        m.clock.advance(Mounted.TTL);

        assertErrno(Errno.ESTALE, () -> m.fs.getattr(inode));
    }

    @Test
    void getattr_fileBecameDirectory_isEstaleThenAnotherInode() throws Exception {
        m.bucket.put("a", "");
        long file = m.lookup("a").inode();
        m.bucket.put("a/b", "");
        m.clock.advance(Mounted.TTL);

        assertErrno(Errno.ESTALE, () -> m.fs.getattr(file));
        Attributes directory = m.lookup("a");
        assertThat(directory.isDirectory()).isTrue();
        assertThat(directory.inode()).isNotEqualTo(file);
    }

    @Test
    void lookup_storeFails_isTheErrnoOfTheFailure() {
        m.faults.next(Call.List.class::isInstance, Fault.fail(ObjectStoreException.Unavailable::new));
        assertErrno(Errno.EIO, () -> m.lookup("a"));
        m.faults.next(Call.List.class::isInstance, Fault.fail(ObjectStoreException.Throttled::new));
        assertErrno(Errno.EIO, () -> m.lookup("a"));
        m.faults.next(Call.List.class::isInstance, Fault.fail(ObjectStoreException.Corrupt::new));
        assertErrno(Errno.EIO, () -> m.lookup("a"));
        m.faults.next(Call.List.class::isInstance, Fault.fail(ObjectStoreException.Refused::new));
        assertErrno(Errno.EIO, () -> m.lookup("a"));
        m.faults.next(Call.List.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));
        assertErrno(Errno.EACCES, () -> m.lookup("a"));
        m.faults.next(Call.List.class::isInstance, Fault.fail(ObjectStoreException.NotFound::new));
        assertErrno(Errno.ESTALE, () -> m.lookup("a"));
    }

    @Test
    void lookup_interrupted_isEintrAndTheFlagStays() throws Exception {
        m.bucket.put("a", "");
        try (Gate gate = m.delays.hold(call -> true);
                ExecutorService threads = Executors.newSingleThreadExecutor()) {
            Future<Boolean> flag = threads.submit(() -> {
                assertErrno(Errno.EINTR, () -> m.lookup("a"));
                return Thread.currentThread().isInterrupted();
            });
            gate.awaitHeld(1);
            threads.shutdownNow();
            assertThat(flag.get()).isTrue();
        }
    }

    @Test
    void access_followsOwnerGroupAndMode() throws Exception {
        m.bucket.put("d/a", "");
        long file = m.lookup("d/a").inode(); // 0640
        long directory = m.lookup("d").inode(); // 0751

        m.fs.access(file, 4, Mounted.UID, 1);
        m.fs.access(file, 4, 1, Mounted.GID);
        m.fs.access(file, 0, 1, 1);
        m.fs.access(file, 4, 0, 0);
        m.fs.access(directory, 1, 1, 1);
        m.fs.access(directory, 5, 0, 0);
        assertErrno(Errno.EACCES, () -> m.fs.access(file, 4, 1, 1));
        assertErrno(Errno.EACCES, () -> m.fs.access(file, 1, Mounted.UID, 1));
        assertErrno(Errno.EACCES, () -> m.fs.access(file, 1, 0, 0));
        assertErrno(Errno.EACCES, () -> m.fs.access(directory, 4, 1, 1));
        assertErrno(Errno.EROFS, () -> m.fs.access(file, 2, 0, 0));
    }

    @Test
    void xattrs_ofFile_showTheObject() throws Exception {
        ObjectVersion version = m.bucket.put("d/a", Content.of(new byte[1]), "GLACIER");
        long inode = m.lookup("d/a").inode();

        assertThat(m.fs.listxattr(inode))
                .as("which cp -a and rsync -X give to a copy")
                .isEmpty();
        assertThat(xattr(inode, "user.penstock.etag")).isEqualTo(version.etag());
        assertThat(xattr(inode, "user.penstock.storage-class")).isEqualTo("GLACIER");
        assertThat(xattr(inode, "user.penstock.key")).isEqualTo("d/a");
        assertErrno(Errno.ENODATA, () -> m.fs.getxattr(inode, "user.other"));
        assertErrno(Errno.EOPNOTSUPP, () -> m.fs.getxattr(inode, "system.posix_acl_access"));
        assertErrno(Errno.EOPNOTSUPP, () -> m.fs.getxattr(inode, "security.capability"));
    }

    @Test
    void xattrs_ofDirectory_areNone() throws Exception {
        assertThat(m.fs.listxattr(FileSystem.ROOT)).isEmpty();
        assertErrno(Errno.ENODATA, () -> m.fs.getxattr(FileSystem.ROOT, "user.penstock.key"));
    }

    @Test
    void statfs_showsRoomAndTheLongestName() {
        Statfs statfs = m.fs.statfs();

        assertThat(statfs.freeBlocks() * statfs.blockSize()).isEqualTo(1L << 50);
        assertThat(statfs.nameMax()).isEqualTo(255);
    }

    @Test
    void config_impossibleMode_isRefused() {
        assertThatThrownBy(() -> new FileSystemConfig(
                        0, 0, 01644, 0755, AllowedUsers.ALL, Long.MAX_VALUE, Passthrough.OFF, 0, false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("file-mode must be three octal digits, 000 to 777, not 1644");
    }

    private String xattr(long inode, String name) throws Exception {
        return new String(m.fs.getxattr(inode, name), StandardCharsets.UTF_8);
    }

    @Test
    void pathOf_anyInode_isFromTheMountsRoot() throws Exception {
        m.bucket.put("d/e/f", "hello");
        long directory = m.lookup("d/e").inode();
        long file = m.lookup("d/e/f").inode();

        assertThat(m.fs.pathOf(FileSystem.ROOT)).isEqualTo("/");
        assertThat(m.fs.pathOf(directory)).isEqualTo("/d/e/");
        assertThat(m.fs.pathOf(file)).isEqualTo("/d/e/f");
        assertThat(m.fs.pathOf(Long.MAX_VALUE)).isNull();
    }
}
