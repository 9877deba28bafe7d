package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.O_CREAT;
import static io.penstock.filesystem.Mounted.O_EXCL;
import static io.penstock.filesystem.Mounted.O_RDWR;
import static io.penstock.filesystem.Mounted.O_TRUNC;
import static io.penstock.filesystem.Mounted.O_WRONLY;
import static io.penstock.filesystem.Mounted.assertErrno;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.PageCache;
import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.kernel.NotifiedKernel;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.metadata.attributes.KeptAttributes.Keeping;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.Content;
import io.penstock.testing.Fault;
import io.penstock.testing.Gate;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Attributes that objects keep, seen through one mount, and through a later one. */
class KeptAttributesTest {
    private static final Instant TIME = Instant.parse("2001-02-03T04:05:06.123456789Z");
    private static final String META = ObjectProperties.USER_METADATA;
    private static final Creator OTHER = new Creator(7, 8);

    @TempDir
    private static Path folder;

    private static PageCache cache;
    private static int mounts;

    private Mounted m;

    @BeforeAll
    static void openCache() throws Exception {
        cache = Mounted.cache(folder.resolve("cache"));
    }

    @AfterAll
    static void closeCache() {
        cache.close();
    }

    @BeforeEach
    void mount() {
        m = Mounted.keeping(cache, staging(), null, Keeping.KEEP);
    }

    @AfterEach
    void unmount() throws Exception {
        m.close();
    }

    private static Path staging() {
        return folder.resolve("staging-" + mounts++);
    }

    /** The bucket as the next mount shows it, which knows only the bucket's content. */
    private void remount() throws Exception {
        remount(Keeping.KEEP);
    }

    private void remount(Keeping keeping) throws Exception {
        m.close();
        m = Mounted.keeping(cache, staging(), m.bucket, keeping);
    }

    private Attributes setattr(String path, AttributeChange change) throws ErrnoException {
        return m.fs.setattr(m.lookup(path).inode(), null, change);
    }

    private static AttributeChange mode(int mode) {
        return new AttributeChange(mode, null, null, null, null, null, null);
    }

    private static AttributeChange times(@Nullable Instant accessed, @Nullable Instant modified) {
        return new AttributeChange(null, null, null, null, accessed, modified, null);
    }

    private static AttributeChange owner(int uid, int gid) {
        return new AttributeChange(null, uid, gid, null, null, null, null);
    }

    private List<String> names(String directory) throws ErrnoException {
        List<String> names = new ArrayList<>();
        OpenFile open = m.fs.opendir(
                directory.isEmpty() ? FileSystem.ROOT : m.lookup(directory).inode());
        long[] offset = {-1, 0};
        while (offset[0] != offset[1]) {
            offset[0] = offset[1];
            m.fs.readdir(open.handle(), offset[0], (name, attributes, next) -> {
                if (!name.startsWith(".")) {
                    names.add(name + " " + Integer.toOctalString(attributes.mode() & Attributes.S_IFMT));
                }
                offset[1] = next;
                return true;
            });
        }
        m.fs.releasedir(open.handle());
        Collections.sort(names);
        return names;
    }

    // ---- kept attributes

    @Test
    void chown_ofAFile_dropsItsSetIdBits() throws Exception {
        m.save("a", "1");
        m.mkdir("d");
        setattr("a", mode(06755));
        setattr("d", mode(06755));
        AttributeChange owner = new AttributeChange(null, 7, null, null, null, null, null);
        setattr("a", owner);
        setattr("d", owner);
        assertThat(m.lookup("a").mode() & 07777).isEqualTo(0755);
        assertThat(m.lookup("d").mode() & 07777).isEqualTo(06755);
    }

    @Test
    void write_ofAProgramThatMayNotSetThem_dropsTheSetIdBits() throws Exception {
        m.save("a", "1");
        setattr("a", mode(06745)); // its group cannot execute it: the bit means mandatory locks
        OpenFile file = m.open("a", O_WRONLY);
        m.fs.dropSetIds(file.handle());
        m.write(file, 0, "2");
        m.close(file);
        assertThat(m.lookup("a").mode() & 07777).isEqualTo(02745);
        setattr("a", mode(04777));
        setattr("a", new AttributeChange(null, null, null, 1L, null, null, null, true));
        assertThat(m.lookup("a").mode() & 07777).isEqualTo(0777);
    }

    @Test
    void chmod_ofAFileThatIsOpenAndThenReplaced_showsInTheOldOne() throws Exception {
        OpenFile file = m.create("a", O_WRONLY);
        setattr("a", mode(0600));
        m.write(file, 0, "1");
        m.close(file);
        OpenFile reader = m.open("a");
        setattr("a", mode(0640));
        m.save("b", "2");
        m.rename("b", "a", 0);
        assertThat(m.fs.getattr(m.fs.inodeOf(reader.handle())).mode() & 07777).isEqualTo(0640);
        m.fs.release(reader.handle());
    }

    @Test
    void chmod_ofARemovedFileThatIsOpenToRead_showsThere() throws Exception {
        m.save("a", "1");
        OpenFile file = m.open("a");
        m.unlink("a");
        long inode = m.fs.inodeOf(file.handle());
        m.fs.setattr(inode, file.handle(), mode(0600));
        assertThat(m.fs.getattr(inode).mode() & 07777).isEqualTo(0600);
        m.fs.release(file.handle());
        assertThat(m.stored("a")).isNull();
    }

    /** Empty objects of one second are one version, and the failed change has made unknown what the first one keeps. */
    @Test
    void unlink_afterAFailedChange_leavesTheOpenFileItsOwnMode() throws Exception {
        m.close(m.create("a", 0640, Mounted.CREATOR, O_WRONLY));
        OpenFile reader = m.open("a");
        long inode = m.fs.inodeOf(reader.handle());
        m.faults.next(Call.Copy.class::isInstance, Fault.fail(ObjectStoreException.Unavailable::new));
        assertErrno(Errno.EIO, () -> setattr("a", times(TIME, TIME)));
        m.unlink("a");

        Attributes other = m.fs.mknod(FileSystem.ROOT, "a", 0010600, 0, Mounted.CREATOR);

        assertThat(m.fs.getattr(inode).mode()).isEqualTo(0100640);
        m.fs.forget(other.inode(), 1);
        m.fs.release(reader.handle());
    }

    @Test
    void setattr_ofACommittedFile_isShownByTheNextMount() throws Exception {
        m.bucket.put("d/a", "12345");

        assertThat(setattr("d/a", mode(0600)).mode()).isEqualTo(0100600);
        setattr("d/a", owner(3, 4));
        setattr("d/a", times(TIME.plusNanos(1), TIME));

        for (int i = 0; i < 2; i++) {
            Attributes shown = m.lookup("d/a");
            assertThat(shown.mode()).isEqualTo(0100600);
            assertThat(shown.uid()).isEqualTo(3);
            assertThat(shown.gid()).isEqualTo(4);
            assertThat(shown.modified()).isEqualTo(TIME);
            assertThat(shown.accessed()).isEqualTo(TIME.plusNanos(1));
            assertThat(m.stored("d/a")).isEqualTo("12345");
            remount();
        }
    }

    @Test
    void setattr_readThenOpenedForWriting_showsItsTimeOfChange() throws Exception {
        m.save("a", "1");
        OpenFile reader = m.open("a");
        m.clock.advance(Duration.ofSeconds(5));
        setattr("a", mode(0600));
        Instant changed = m.clock.instant();
        m.clock.advance(Duration.ofSeconds(5));

        OpenFile writer = m.open("a", O_WRONLY);

        assertThat(m.lookup("a").changed()).isEqualTo(changed);
        m.close(writer);
        m.fs.release(reader.handle());
    }

    @Test
    void setattr_ofTheModeAlone_keepsTheTimeThatWasShown() throws Exception {
        m.bucket.put("a", "1");
        Instant before = m.lookup("a").modified();
        m.clock.advance(Duration.ofHours(1));

        setattr("a", mode(0600));
        remount();

        assertThat(m.lookup("a").modified()).isEqualTo(before);
    }

    @Test
    void setattr_ofWhatIsBeingWritten_isOnePut() throws Exception {
        m.mkdir("d");
        m.save("d/first", "of another mode than others, so that the directory is marked");
        setattr("d/first", mode(0600));
        OpenFile file = m.create("d/a", O_WRONLY);
        m.write(file, 0, "1");
        m.drainCalls();

        m.fs.setattr(m.lookup("d/a").inode(), file.handle(), times(TIME, TIME));
        m.fs.setattr(m.lookup("d/a").inode(), file.handle(), mode(0755));
        m.close(file);

        assertThat(m.drainCalls().stream().filter(Call::isWrite))
                .singleElement()
                .isInstanceOf(Call.Put.class);
        remount();
        assertThat(m.lookup("d/a").mode()).isEqualTo(0100755);
        assertThat(m.lookup("d/a").modified()).isEqualTo(TIME);
    }

    @Test
    void setattr_ofWhatIsClosedMeanwhile_isKeptAndShown() throws Exception {
        m.save("a", "1");
        OpenFile file = m.open("a", O_WRONLY);
        m.write(file, 1, "2");
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                Gate asking = m.delays.hold(Call.Describe.class::isInstance)) {
            Future<Attributes> chmod = threads.submit(() -> setattr("a", mode(0600)));
            asking.awaitHeld(1);
            m.close(file);
            assertThat(m.stored("a")).as("visible once it is closed").isEqualTo("12");
            asking.open();
            assertThat(chmod.get().mode()).isEqualTo(0100600);
        }

        assertThat(m.lookup("a").mode()).isEqualTo(0100600);
        m.drain();
        m.fs.checkInvariants();
        assertThat(m.lookup("a").mode()).isEqualTo(0100600);
        assertThat(m.bucket.properties("a").headers()).containsEntry(META + "file-permissions", "0600");
    }

    @Test
    void setattr_thenWrittenTo_hasTheTimeOfTheWrite() throws Exception {
        m.save("a", "1");
        setattr("a", times(TIME, TIME));
        OpenFile file = m.open("a", O_WRONLY);

        m.write(file, 1, "2");
        m.close(file);

        assertThat(m.lookup("a").modified()).isEqualTo(m.clock.instant());
        remount();
        assertThat(m.lookup("a").modified()).isAfter(TIME);
        assertThat(m.lookup("a").mode()).isEqualTo(0100644);
    }

    /** A program has had the file open since before another node changed its attributes, which makes no new version. */
    private OpenFile openWhileAnotherNodeChanges(String path, AttributeChange change) throws Exception {
        OpenFile reader = m.open(path);
        m.clock.advance(Duration.ofHours(1)); // the bucket's
        try (Mounted other = Mounted.keeping(cache, staging(), m.bucket, Keeping.KEEP)) {
            other.fs.setattr(other.lookup(path).inode(), null, change);
        }
        return reader;
    }

    @Test
    void copyFileRange_overWhatIsRead_keepsItsAttributesAsTheyAreNow() throws Exception {
        m.save("new", "new");
        m.save("a", "old");
        setattr("a", mode(0600));
        OpenFile reader = openWhileAnotherNodeChanges("a", owner(5, 6));

        OpenFile from = m.open("new");
        OpenFile to = m.open("a", O_WRONLY | O_TRUNC);
        assertThat(m.fs.copyFileRange(from.handle(), 0, to.handle(), 0, 3)).isEqualTo(3);
        m.close(to);
        m.fs.release(from.handle());
        m.fs.release(reader.handle());

        assertThat(m.stored("a")).isEqualTo("new");
        assertThat(m.bucket.properties("a").headers())
                .containsEntry(META + "file-permissions", "0600")
                .containsEntry(META + "file-owner", "5")
                .doesNotContainKey(META + "file-mtime");
    }

    @Test
    void write_toWhatIsRead_showsTheTimeOfTheWriteAtOnce() throws Exception {
        m.save("a", "1");
        setattr("a", times(TIME, TIME));
        OpenFile reader = openWhileAnotherNodeChanges("a", mode(0600));

        OpenFile writer = m.open("a", O_WRONLY);
        m.write(writer, 1, "2");

        assertThat(m.lookup("a").modified()).isEqualTo(m.clock.instant());
        assertThat(m.lookup("a").mode()).isEqualTo(0100600);
        m.close(writer);
        assertThat(m.lookup("a").modified()).isEqualTo(m.clock.instant());
        m.fs.release(reader.handle());
    }

    /** The next commit keeps them: until then nobody may read what only the owner could. */
    @Test
    void crash_ofATruncatedAndFsyncedFile_leavesItsAttributes() throws Exception {
        m.save("a", "old");
        m.fs.setattr(m.lookup("a").inode(), null, mode(0600));
        m.fs.setxattr(m.lookup("a").inode(), "user.k", new byte[] {'v'}, 0);
        OpenFile truncated = m.open("a", O_WRONLY | O_TRUNC);
        m.write(truncated, 0, "new");
        m.fs.fsync(truncated.handle());

        m = m.crash(cache, Files.createDirectory(staging()));

        Attributes shown = m.lookup("a");
        assertThat(shown.mode() & 07777).isEqualTo(0600);
        assertThat(m.fs.getxattr(shown.inode(), "user.k")).containsExactly('v');
        OpenFile read = m.open("a");
        assertThat(m.read(read)).isEqualTo("new");
        m.close(read);
    }

    @Test
    void create_withAnotherModeOrOwnerThanUsual_keepsThem() throws Exception {
        CreatedFile created = m.fs.create(FileSystem.ROOT, "a", 0600, OTHER, O_WRONLY | O_CREAT | O_EXCL);
        m.fs.flush(created.open().handle());
        m.fs.release(created.open().handle());
        m.fs.forget(created.attributes().inode(), 1);

        remount();

        Attributes shown = m.lookup("a");
        assertThat(shown.mode()).isEqualTo(0100600);
        assertThat(shown.uid()).isEqualTo(7);
        assertThat(shown.gid()).isEqualTo(8);
    }

    @Test
    void create_inADirectoryThatSetsTheGroup_hasItsGroup() throws Exception {
        m.fs.forget(
                m.fs.mkdir(FileSystem.ROOT, "d", 02775, new Creator(Mounted.UID, 9))
                        .inode(),
                1);
        m.fs.forget(
                m.fs.mkdir(m.lookup("d").inode(), "e", 0755, Mounted.CREATOR).inode(), 1);
        m.save("d/a", "1");
        m.save("d/e/a", "1");

        remount();

        assertThat(m.lookup("d").mode()).isEqualTo(0042775);
        assertThat(m.lookup("d/e").mode()).isEqualTo(0042755);
        for (String path : List.of("d", "d/a", "d/e", "d/e/a")) {
            assertThat(m.lookup(path).gid()).as(path).isEqualTo(9);
        }
    }

    @Test
    void setattr_ofADirectory_isKeptByItsMarker() throws Exception {
        m.bucket.put("d/e/a", "1");

        setattr("d/e", mode(0700));
        setattr("d/e", times(TIME, TIME));
        remount();

        assertThat(m.lookup("d/e").mode()).isEqualTo(0040700);
        assertThat(m.lookup("d/e").modified()).isEqualTo(TIME);
        assertThat(m.lookup("d").mode()).isEqualTo(0040751);
        assertThat(m.stored("d/e/")).isEmpty();
        assertThat(names("d/e")).containsExactly("a 100000");
    }

    @Test
    void setattr_ofTheRoot_isKeptAndItsMarkerIsNotShown() throws Exception {
        m.bucket.put("a", "1");

        m.fs.setattr(FileSystem.ROOT, null, mode(0700));
        remount();

        assertThat(m.fs.getattr(FileSystem.ROOT).mode()).isEqualTo(0040700);
        assertThat(m.stored(".penstock/")).isEmpty();
        assertThat(names("")).containsExactly("a 100000");
        assertErrno(Errno.ENOENT, () -> m.lookup(".penstock"));
    }

    @Test
    void times_ofADirectory_areThoseOfTheLastChangeInIt() throws Exception {
        m.mkdir("d");
        m.clock.advance(Duration.ofHours(1));
        m.save("d/a", "1");
        assertThat(m.lookup("d").modified()).isEqualTo(m.clock.instant());

        m.clock.advance(Duration.ofHours(1));
        m.unlink("d/a");
        assertThat(m.lookup("d").modified()).isEqualTo(m.clock.instant());

        setattr("d", times(null, TIME));
        assertThat(m.lookup("d").modified()).isEqualTo(TIME);
    }

    // ---- links, FIFOs, sockets

    @Test
    void symlink_isAnEmptyObjectAndShownByTheNextMount() throws Exception {
        String target = "../some/\u00e4 place%";
        m.mkdir("d");
        Attributes made = m.fs.symlink(target, m.lookup("d").inode(), "l", Mounted.CREATOR);
        m.fs.forget(made.inode(), 1);

        for (int i = 0; i < 2; i++) {
            Attributes shown = m.lookup("d/l");
            assertThat(shown.mode()).isEqualTo(0120777);
            assertThat(shown.size()).isEqualTo(target.getBytes(UTF_8).length);
            assertThat(m.fs.readlink(shown.inode())).isEqualTo(target);
            assertThat(names("d")).containsExactly("l 120000");
            assertThat(m.stored("d/l")).isEmpty();
            remount();
        }
        assertErrno(Errno.EINVAL, () -> m.fs.readlink(m.lookup("d").inode()));
    }

    @Test
    void symlink_whoseTargetNoMetadataHolds_isRefused() {
        assertErrno(Errno.ENAMETOOLONG, () -> m.fs.symlink("t".repeat(3000), FileSystem.ROOT, "l", Mounted.CREATOR));
    }

    @Test
    void symlink_renamed_staysOne() throws Exception {
        m.fs.forget(m.fs.symlink("t", FileSystem.ROOT, "l", Mounted.CREATOR).inode(), 1);

        m.rename("l", "k", 0);

        assertThat(m.fs.readlink(m.lookup("k").inode())).isEqualTo("t");
        remount();
        assertThat(m.fs.readlink(m.lookup("k").inode())).isEqualTo("t");
    }

    /** All empty objects have one ETag, and these are of one second. */
    @Test
    void rename_ofAnEmptyFileOverALink_isAFile() throws Exception {
        m.bucket.put("d/a", "");
        m.lookup("d/a");
        m.fs.forget(m.fs.symlink("t", FileSystem.ROOT, "l", Mounted.CREATOR).inode(), 1);

        m.rename("d/a", "l", 0);

        assertThat(m.lookup("l").mode()).isEqualTo(0100640);
    }

    @Test
    void mknod_anyKind_isShownByTheNextMount() throws Exception {
        m.fs.forget(
                m.fs.mknod(FileSystem.ROOT, "f", 0010600, 0, Mounted.CREATOR).inode(), 1);
        m.fs.forget(
                m.fs.mknod(FileSystem.ROOT, "s", 0140644, 0, Mounted.CREATOR).inode(), 1);
        m.fs.forget(
                m.fs.mknod(FileSystem.ROOT, "d", 0060600, 0x801, Mounted.CREATOR)
                        .inode(),
                1);

        remount();

        assertThat(m.lookup("f").mode()).isEqualTo(0010600);
        assertThat(m.lookup("s").mode()).isEqualTo(0140644);
        assertThat(m.lookup("d").mode()).isEqualTo(0060600);
        assertThat(m.lookup("d").device()).isEqualTo(0x801);
        assertThat(names("")).containsExactly("d 60000", "f 10000", "s 140000");
    }

    // ---- hard links

    @Test
    void link_isACopyUnderANameThatNothingHas() throws Exception {
        m.save("a", "1");
        setattr("a", mode(0600));

        Attributes linked = m.fs.link(m.lookup("a").inode(), FileSystem.ROOT, "b");
        m.fs.forget(linked.inode(), 1);

        assertThat(linked.inode()).isNotEqualTo(m.lookup("a").inode());
        assertThat(m.stored("b")).isEqualTo("1");
        assertThat(m.lookup("b").mode()).isEqualTo(0100600);
        assertErrno(Errno.EEXIST, () -> m.fs.link(m.lookup("a").inode(), FileSystem.ROOT, "b"));
        m.unlink("a");
        assertThat(m.stored("b")).isEqualTo("1");
    }

    /** git compares the inode numbers, locks count the links. */
    @Test
    void link_justMade_showsOneNumberAndTwoLinksUntilEitherChanges() throws Exception {
        for (String change : List.of("write a", "write b", "chmod", "rename", "unlink", "other node")) {
            m.save("a", "1");
            long number = m.lookup("a").number();
            Attributes linked = m.fs.link(m.lookup("a").inode(), FileSystem.ROOT, "b");
            for (Attributes shown : List.of(linked, m.lookup("a"), m.lookup("b"))) {
                assertThat(shown.number()).isEqualTo(number);
                assertThat(shown.links()).isEqualTo(2);
                assertThat(shown.validNanos()).isZero();
            }
            m.fs.forget(linked.inode(), 1);

            switch (change) {
                case "write a" -> m.close(m.open("a", O_WRONLY));
                case "write b" -> m.save("b", "2");
                case "chmod" -> setattr("a", mode(0600));
                case "rename" -> m.rename("a", "c", 0);
                case "unlink" -> m.unlink("a");
                default -> {
                    m.bucket.put("a", "theirs");
                    m.clock.advance(Mounted.TTL);
                    assertThat(m.lookup("a").size()).isEqualTo(6);
                }
            }

            assertThat(m.lookup("b").links()).as(change).isEqualTo(1);
            assertThat(m.lookup("b").number())
                    .as(change)
                    .isEqualTo(m.lookup("b").inode());
            for (String left : m.ls(FileSystem.ROOT, 10)) {
                m.unlink(left);
            }
        }
    }

    /** As on a machine that is busy for metadata.ttl. */
    @Test
    void link_copyTakesLongerThanTheTtl_showsTwoLinksToo() throws Exception {
        m.save("a", "1");
        long inode = m.lookup("a").inode();
        m.faults.next(
                call -> {
                    if (call instanceof Call.Copy) {
                        m.clock.advance(Mounted.TTL.multipliedBy(2));
                    }
                    return false;
                },
                Fault.fail(ObjectStoreException.Unavailable::new));

        Attributes linked = m.fs.link(inode, FileSystem.ROOT, "b");

        assertThat(m.lookup("a").links()).isEqualTo(2);
        assertThat(m.lookup("b").links()).isEqualTo(2);
        m.fs.forget(linked.inode(), 1);
    }

    @Test
    void link_toANameThatAnotherNodeHasMade_isEexist() throws Exception {
        m.save("a", "1");
        assertErrno(Errno.ENOENT, () -> m.lookup("b"));
        m.bucket.put("b", "theirs");

        assertErrno(Errno.EEXIST, () -> m.fs.link(m.lookup("a").inode(), FileSystem.ROOT, "b"));

        assertThat(m.stored("b")).isEqualTo("theirs");
    }

    /** All empty files have one ETag. */
    @Test
    void link_toTheNameOfAnOpenRemovedFile_isAnotherFile() throws Exception {
        m.bucket.put("lock", "");
        OpenFile reader = m.open("lock");
        m.bucket.delete("lock");
        m.clock.advance(Mounted.TTL);
        m.save("mine", "");

        Attributes linked = m.fs.link(m.lookup("mine").inode(), FileSystem.ROOT, "lock");
        m.fs.forget(linked.inode(), 1);
        OpenFile writer = m.open("lock", O_WRONLY);
        m.write(writer, 0, "held");
        m.close(writer);

        assertThat(linked.inode()).isNotEqualTo(m.fs.inodeOf(reader.handle()));
        assertThat(m.stored("lock")).isEqualTo("held");
        m.fs.release(reader.handle());
    }

    @Test
    void link_ofWhatIsBeingWritten_hasWhatWasWrittenByThen() throws Exception {
        OpenFile file = m.create("a", O_WRONLY);
        m.write(file, 0, "1");

        m.fs.forget(m.fs.link(m.lookup("a").inode(), FileSystem.ROOT, "b").inode(), 1);
        m.write(file, 1, "2");
        m.close(file);

        assertThat(m.stored("a")).isEqualTo("12");
        assertThat(m.stored("b")).isEqualTo("1");
    }

    // ---- extended attributes

    @Test
    void setxattr_isKeptOfFilesAndDirectories() throws Exception {
        m.save("a", "1");
        m.mkdir("d");
        byte[] value = {0, 1, -1};

        for (String path : List.of("a", "d")) {
            long inode = m.lookup(path).inode();
            m.fs.setxattr(inode, "user.x", value, 0);
            m.fs.setxattr(inode, "user.y", new byte[0], AttributeChanges.XATTR_CREATE);
            assertErrno(Errno.EEXIST, () -> m.fs.setxattr(inode, "user.x", new byte[1], AttributeChanges.XATTR_CREATE));
            assertErrno(
                    Errno.ENODATA, () -> m.fs.setxattr(inode, "user.z", new byte[1], AttributeChanges.XATTR_REPLACE));
            assertErrno(Errno.EOPNOTSUPP, () -> m.fs.setxattr(inode, "security.x", new byte[1], 0));
            assertErrno(Errno.EOPNOTSUPP, () -> m.fs.setxattr(inode, "user.penstock.etag", new byte[1], 0));
            assertErrno(Errno.ENOSPC, () -> m.fs.setxattr(inode, "user.large", new byte[2000], 0));
        }
        remount();

        for (String path : List.of("a", "d")) {
            long inode = m.lookup(path).inode();
            assertThat(m.fs.getxattr(inode, "user.x")).isEqualTo(value);
            assertThat(m.fs.listxattr(inode)).contains("user.x", "user.y");
            m.fs.removexattr(inode, "user.x");
            assertErrno(Errno.ENODATA, () -> m.fs.getxattr(inode, "user.x"));
            assertErrno(Errno.ENODATA, () -> m.fs.removexattr(inode, "user.x"));
        }
    }

    // ---- cost, and objects written by others

    @Test
    void lookup_whereNobodyHasKeptAny_asksOnceForADirectory() throws Exception {
        for (int i = 0; i < 10; i++) {
            m.bucket.put("d/" + i, "1");
        }
        m.drainCalls();

        for (int i = 0; i < 10; i++) {
            m.lookup("d/" + i);
        }

        assertThat(m.drainCalls().stream().filter(Call.Describe.class::isInstance))
                .containsExactlyInAnyOrder(new Call.Describe(".penstock/"), new Call.Describe("d/"));
    }

    @Test
    void lookup_inADirectoryThatWasListed_asksForNothing() throws Exception {
        for (int i = 0; i < 10; i++) {
            m.bucket.put("d/" + i, "1");
        }
        assertThat(names("")).hasSize(1);
        assertThat(names("d")).hasSize(10);
        m.drainCalls();

        for (int i = 0; i < 10; i++) {
            m.lookup("d/" + i);
        }

        assertThat(m.drainCalls()).isEmpty();
    }

    /** Another node's change of attributes alone leaves ETag and size as they are. */
    @Test
    void lookup_changedElsewhere_isShownAfterTheTtl() throws Exception {
        m.save("a", "1");
        setattr("a", mode(0600));
        assertThat(m.lookup("a").mode()).isEqualTo(0100600);
        try (Mounted other = Mounted.keeping(cache, staging(), m.bucket, Keeping.KEEP)) {
            m.clock.advance(Duration.ofHours(1));
            other.clock.advance(Duration.ofHours(1));
            other.fs.setattr(other.lookup("a").inode(), null, mode(0640));
            other.fs.setattr(other.lookup("a").inode(), null, owner(5, 6));
        }

        setattr("a", times(null, TIME));

        assertThat(m.lookup("a").uid()).isEqualTo(5);
        assertThat(m.lookup("a").mode()).isEqualTo(0100640);
    }

    /** All versions of one second have one ETag and one Last-Modified. */
    @Test
    void lookup_changedElsewhereTwiceInASecond_isShownAfterTheTtl() throws Exception {
        m.save("a", "1");
        setattr("a", mode(0600));
        try (Mounted other = Mounted.keeping(cache, staging(), m.bucket, Keeping.KEEP)) {
            assertThat(other.lookup("a").mode()).isEqualTo(0100600);
            setattr("a", mode(0640));
            other.clock.advance(Mounted.TTL.minusNanos(1));
            other.drainCalls();
            assertThat(other.lookup("a").mode()).isEqualTo(0100600);
            assertThat(other.drainCalls()).isEmpty();

            other.clock.advance(Duration.ofNanos(1));
            assertThat(other.lookup("a").mode()).isEqualTo(0100640);
        }
    }

    @Test
    void lookup_changedElsewhereInOurSecond_isShownAfterTheTtl() throws Exception {
        m.save("a", "1");
        setattr("a", mode(0600));
        try (Mounted other = Mounted.keeping(cache, staging(), m.bucket, Keeping.KEEP)) {
            other.fs.setattr(other.lookup("a").inode(), null, mode(0640));
        }
        assertThat(m.lookup("a").mode()).isEqualTo(0100600);

        m.clock.advance(Mounted.TTL);
        assertThat(m.lookup("a").mode()).isEqualTo(0100640);
    }

    /** Like all objects of a training job, which were last changed long ago. */
    @Test
    void lookup_whatWasChangedSecondsBefore_asksForItsAttributesOnce() throws Exception {
        m.save("a", "1");
        setattr("a", mode(0600));
        m.clock.advance(Mounted.TTL);
        assertThat(attributesAsked("a")).isEqualTo(1);

        m.clock.advance(Mounted.TTL);
        assertThat(attributesAsked("a")).isZero();
    }

    @Test
    void lookup_ofAFileMadeHere_whereNobodyHasKeptAny_asksForNone() throws Exception {
        m.close(m.create("a", 0640, Mounted.CREATOR, O_WRONLY));
        m.clock.advance(Mounted.TTL);
        assertThat(attributesAsked("a")).isZero();
    }

    /** The number of requests for kept attributes by a lookup of the file. */
    private long attributesAsked(String path) throws Exception {
        m.drainCalls();
        m.lookup(path);
        return m.drainCalls().stream().filter(new Call.Describe(path)::equals).count();
    }

    @Test
    void lookup_whileTheStoreIsAway_goesByWhatWasKnown() throws Exception {
        m.mkdir("d");
        m.save("d/a", "1");
        setattr("d/a", mode(0600));
        m.lookup("d/a");
        m.clock.advance(Mounted.TTL.dividedBy(2));
        m.lookup("d/a");
        m.faults.always(Call.Describe.class::isInstance, Fault.fail(ObjectStoreException.Unavailable::new));
        m.clock.advance(Mounted.TTL.minusSeconds(1));

        assertThat(m.fs.getattr(FileSystem.ROOT).mode()).isEqualTo(0040751);
        assertThat(m.lookup("d").mode()).isEqualTo(0040755);
        assertThat(m.lookup("d/a").mode()).isEqualTo(0100600);
    }

    /** A private file must not be shown with the default mode, which the kernel would apply. */
    @Test
    void lookup_whileTheStoreHasNeverSaid_isEioOrEacces() throws Exception {
        m.mkdir("d");
        m.save("d/a", "1");
        setattr("d/a", mode(0600));
        remount();

        m.faults.always(Call.Describe.class::isInstance, Fault.fail(ObjectStoreException.Unavailable::new));
        assertErrno(Errno.EIO, () -> m.fs.getattr(FileSystem.ROOT));
        assertErrno(Errno.EIO, () -> m.lookup("d"));
        m.faults.heal();
        m.lookup("d");
        m.faults.always(
                call -> call instanceof Call.Describe describe && describe.key().equals("d/a"),
                Fault.fail(ObjectStoreException.AccessDenied::new));
        assertErrno(Errno.EACCES, () -> m.lookup("d/a"));
        m.faults.heal();
        assertThat(m.lookup("d/a").mode()).isEqualTo(0100600);
    }

    /** The entries that readdirplus shows of a directory, through a sink that takes this many at a time. */
    private Map<String, Attributes> entries(String directory, int batch) throws ErrnoException {
        Map<String, Attributes> entries = new TreeMap<>();
        long handle = m.fs.opendir(m.lookup(directory).inode()).handle();
        long[] offset = {2};
        int before;
        do {
            before = entries.size();
            int room = before + batch;
            m.fs.readdirplus(handle, offset[0], (name, attributes, next) -> {
                if (entries.size() == room) {
                    return false;
                }
                entries.put(name, attributes);
                offset[0] = next;
                return true;
            });
        } while (entries.size() > before);
        m.fs.releasedir(handle);
        for (Attributes each : entries.values()) {
            if (each.inode() != FileSystem.UNKNOWN_INODE) {
                m.fs.forget(each.inode(), 1);
            }
        }
        return entries;
    }

    /** A directory in which some object keeps attributes, shown by a mount that does not know which. */
    private void putMarked(String... names) throws Exception {
        m.mkdir("d");
        m.save("d/private", "1");
        setattr("d/private", mode(0600));
        for (String name : names) {
            m.bucket.put("d/" + name, "1");
        }
        remount();
    }

    @Test
    void readdirplus_ofWhatAnotherNodeHasRemoved_showsTheRest() throws Exception {
        putMarked("a", "b");
        assertThat(names("d")).hasSize(3);
        m.bucket.delete("d/a");

        Map<String, Attributes> entries = entries("d", 100);
        assertThat(entries).containsOnlyKeys("b", "private");
        assertThat(entries.values()).extracting(Attributes::mode).containsExactly(0100640, 0100600);
    }

    @Test
    void readdirplus_directoryEmptiedElsewhere_requestsEntriesOnce() throws Exception {
        putMarked(numbered(1_000));
        assertThat(names("d")).hasSize(1_001);
        for (String name : numbered(1_000)) {
            m.bucket.delete("d/" + name);
        }
        m.drainCalls();

        assertThat(entries("d", 100)).containsKey("private");

        assertThat(m.drainCalls()).hasSizeLessThan(400);
    }

    private static String[] numbered(int count) {
        return IntStream.range(0, count).mapToObj("%03d"::formatted).toArray(String[]::new);
    }

    @Test
    void readdir_ofWhatIsRemovedMeanwhile_showsTheRest() throws Exception {
        putMarked("b");
        m.bucket.put("d/a", ""); // may be a link
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                Gate asking = m.delays.hold(call ->
                        call instanceof Call.Describe describe && describe.key().equals("d/a"))) {
            Future<List<String>> reader = threads.submit(() -> names("d"));
            asking.awaitHeld(1);
            m.bucket.delete("d/a");
            asking.open();
            assertThat(reader.get()).containsExactly("b 100000", "private 100000");
        }
    }

    @Test
    void readdir_ofWhatTheStoreDenies_hasItsNameAndNoAttributes() throws Exception {
        putMarked("a", "b");
        m.bucket.put("d/e", "");
        m.faults.always(
                call -> call instanceof Call.Describe describe
                        && !describe.key().endsWith("/"),
                Fault.fail(ObjectStoreException.AccessDenied::new));

        Map<String, Attributes> entries = entries("d", 100);
        assertThat(entries).containsOnlyKeys("a", "b", "e", "private");
        assertThat(entries.values()).extracting(Attributes::inode).containsOnly(FileSystem.UNKNOWN_INODE);
        assertThat(entries.values()).extracting(Attributes::mode).containsExactly(0100000, 0100000, 0, 0100000);
        assertThat(names("d")).containsExactly("a 100000", "b 100000", "e 0", "private 100000");
        assertErrno(Errno.EACCES, () -> m.lookup("d/a"));

        m.faults.heal();
        assertThat(entries("d", 100).values()).extracting(Attributes::mode).contains(0100600);
    }

    @Test
    void readdir_whereTheMarkerIsDenied_hasNamesAndNoAttributes() throws Exception {
        putMarked("a");
        long handle = m.fs.opendir(m.lookup("d").inode()).handle();
        m.faults.always(
                call -> call instanceof Call.Describe describe && describe.key().equals("d/"),
                Fault.fail(ObjectStoreException.Refused::new));
        m.clock.advance(Mounted.TTL);
        List<String> names = new ArrayList<>();

        m.fs.readdirplus(handle, 2, (name, attributes, next) -> {
            assertThat(attributes.inode()).isEqualTo(FileSystem.UNKNOWN_INODE);
            return names.add(name);
        });

        assertThat(names).containsExactly("a", "private");
        m.fs.releasedir(handle);
    }

    @Test
    void readdirplus_whereTheStoreDeniesAll_asksForTheFirstOnly() throws Exception {
        putMarked(numbered(1_000));
        m.faults.always(
                call -> call instanceof Call.Describe describe
                        && !describe.key().endsWith("/"),
                Fault.fail(ObjectStoreException.AccessDenied::new));
        m.drainCalls();

        assertThat(entries("d", 100)).hasSize(1_001);

        assertThat(m.drainCalls()).hasSizeLessThan(400);
    }

    @Test
    void readdir_whileTheStoreIsAway_isEio() throws Exception {
        putMarked("a");
        m.lookup("d/private");
        m.faults.always(
                call -> call instanceof Call.Describe describe
                        && !describe.key().endsWith("/"),
                Fault.fail(ObjectStoreException.Unavailable::new));
        long handle = m.fs.opendir(m.lookup("d").inode()).handle();

        assertErrno(Errno.EIO, () -> m.fs.readdirplus(handle, 2, (name, attributes, next) -> true));
        m.fs.releasedir(handle);
    }

    /** The kernel counts no lookup if the reply is an error. */
    @Test
    void readdirplus_laterEntryReplaced_returnsThoseBeforeIt() throws Exception {
        m.mkdir("d");
        m.save("d/c", "1");
        setattr("d/c", mode(0600));
        m.bucket.put("d/a", "1");
        m.bucket.put("d/b", "1");
        m.clock.advance(Duration.ofHours(1)); // the bucket's: all attributes are known permanently
        remount();
        assertThat(entries("d", 100)).hasSize(3);
        long handle = m.fs.opendir(m.lookup("d").inode()).handle();
        m.bucket.put("d/b", "another");
        m.clock.advance(Mounted.TTL);
        assertThat(names("d")).hasSize(3); // another listing
        m.faults.always(
                call -> call instanceof Call.Describe describe && describe.key().equals("d/b"),
                Fault.fail(ObjectStoreException.Unavailable::new));
        Map<String, Long> taken = new TreeMap<>();

        m.fs.readdirplus(handle, 2, (name, attributes, next) -> {
            taken.put(name, attributes.inode());
            return true;
        });

        assertThat(taken).containsOnlyKeys("a");
        assertErrno(Errno.EIO, () -> m.fs.readdirplus(handle, 3, (name, attributes, next) -> true));
        taken.values().forEach(inode -> m.fs.forget(inode, 1));
        m.fs.releasedir(handle);
    }

    @Test
    void lookup_ofWhatAnotherNodeHasRemoved_isEnoent() throws Exception {
        putMarked("a", "b", "c");
        assertThat(names("d")).hasSize(4);
        m.bucket.delete("d/a");
        m.bucket.delete("d/b");
        m.bucket.put("d/b/below", "1");
        m.bucket.delete("d/c");

        assertErrno(Errno.ENOENT, () -> m.lookup("d/a"));
        assertThat(m.lookup("d/b").isDirectory()).isTrue();
        m.save("d/c", "2");
        assertThat(m.stored("d/c")).isEqualTo("2");
    }

    /** It lists the name, but does not have the object. */
    @Test
    void lookup_whereTheStoreContradictsItself_isEstale() throws Exception {
        putMarked("a");
        m.faults.always(
                call -> call instanceof Call.Describe describe && describe.key().equals("d/a"),
                Fault.fail(ObjectStoreException.NotFound::new));

        assertErrno(Errno.ESTALE, () -> m.lookup("d/a"));
    }

    @Test
    void fstat_ofAnOpenFileThatAnotherNodeHasRemoved_isItsOwn() throws Exception {
        m.fs.addListener(new NotifiedKernel());
        m.bucket.put("d/a", "1");
        m.bucket.put("d/b", "1");
        OpenFile open = m.open("d/a");
        long inode = m.fs.inodeOf(open.handle());
        setattr("d/b", mode(0600)); // from now on objects in there may keep some
        m.bucket.delete("d/a");

        assertThat(m.fs.getattr(inode).size()).isEqualTo(1);
        m.clock.advance(Mounted.TTL);
        assertThat(m.fs.getattr(inode).size()).isEqualTo(1);
        assertErrno(Errno.ENOENT, () -> m.lookup("d/a"));
        m.fs.release(open.handle());
    }

    private void breakStore() {
        m.faults.always(_ -> true, Fault.fail(ObjectStoreException.Unavailable::new));
    }

    /** The kernel requests the attributes before it reads. */
    @Test
    void fstat_ofAnOpenFileWhileTheStoreIsAway_isAsKnownLast() throws Exception {
        m.bucket.put("e/a", "1");
        putMarked();
        m.fs.addListener(new NotifiedKernel());
        OpenFile usual = m.open("e/a");
        OpenFile secret = m.open("d/private");
        assertThat(m.read(usual) + m.read(secret)).isEqualTo("11");
        m.clock.advance(Mounted.TTL);
        breakStore();

        assertThat(m.fs.getattrNow(m.fs.inodeOf(usual.handle())))
                .isNotNull()
                .extracting(Attributes::mode)
                .isEqualTo(0100640);
        assertThat(m.fs.getattrNow(m.fs.inodeOf(secret.handle())))
                .isNotNull()
                .extracting(Attributes::mode)
                .isEqualTo(0100600);
        assertThat(m.read(usual) + m.read(secret)).isEqualTo("11");
        m.fs.release(usual.handle());
        m.fs.release(secret.handle());
    }

    @Test
    void fstat_openFileChangedElsewhere_isAsLastLookedUp() throws Exception {
        m.save("a", "1");
        m.fs.addListener(new NotifiedKernel());
        OpenFile open = openWhileAnotherNodeChanges("a", mode(0600));
        assertThat(m.lookup("a").mode()).isEqualTo(0100600);
        m.clock.advance(Mounted.TTL);
        breakStore();

        assertThat(m.fs.getattrNow(m.fs.inodeOf(open.handle())))
                .isNotNull()
                .extracting(Attributes::mode)
                .isEqualTo(0100600);
        m.fs.release(open.handle());
    }

    /** The kernel knew the name for longer than the store's answer about the directory's marker is valid. */
    @Test
    void fstat_ofAnOpenFileOfWhichNothingWasKnown_isAsked() throws Exception {
        m.bucket.put("d/a", "1");
        m.fs.addListener(new NotifiedKernel());
        long inode = m.lookup("d/a").inode();
        m.clock.advance(Mounted.TTL);
        OpenFile open = m.fs.open(inode, 0);
        assertThat(m.fs.getattrNow(inode)).isNull();

        assertThat(m.fs.getattr(inode).mode()).isEqualTo(0100640);

        m.clock.advance(Mounted.TTL);
        breakStore();
        assertThat(m.fs.getattrNow(inode)).isNotNull();
        m.fs.release(open.handle());
    }

    @Test
    void fstat_openFileOfUnknownAttributesStoreAway_isTheDefault() throws Exception {
        m.bucket.put("d/a", "1");
        m.fs.addListener(new NotifiedKernel());
        long inode = m.lookup("d/a").inode();
        m.clock.advance(Mounted.TTL);
        OpenFile open = m.fs.open(inode, 0);
        breakStore();

        assertThat(m.fs.getattr(inode).mode()).isEqualTo(0100640);
        m.fs.release(open.handle());
    }

    /** They may have been private. */
    @Test
    void lookup_ofWhatIsWrittenOverARemovedObject_isEstale() throws Exception {
        m.bucket.put("d/a", "1");
        m.bucket.put("d/b", "1");
        OpenFile writer = m.open("d/a", O_RDWR);
        m.write(writer, 0, "2");
        setattr("d/b", mode(0600)); // from now on objects in there may keep some
        m.bucket.delete("d/a");

        assertErrno(Errno.ESTALE, () -> m.lookup("d/a"));
        assertThat(entries("d", 100))
                .hasEntrySatisfying("a", a -> assertThat(a.inode()).isEqualTo(FileSystem.UNKNOWN_INODE));
        assertErrno(Errno.ESTALE, () -> m.fs.flush(writer.handle()));
        m.fs.release(writer.handle());
    }

    @Test
    void create_whereNoMarkerIsTaken_keepsTheAttributesAllTheSame() throws Exception {
        m.faults.always(
                call -> call instanceof Call.Put put && put.key().endsWith("/"),
                Fault.fail(ObjectStoreException.AccessDenied::new));

        m.fs.forget(m.fs.symlink("t", FileSystem.ROOT, "l", Mounted.CREATOR).inode(), 1);

        assertThat(m.fs.readlink(m.lookup("l").inode())).isEqualTo("t");
        m.clock.advance(Mounted.TTL);
        assertThat(m.fs.readlink(m.lookup("l").inode())).isEqualTo("t");
        m.faults.heal();
        remount(Keeping.ALL);
        assertThat(m.fs.readlink(m.lookup("l").inode())).isEqualTo("t");
    }

    @Test
    void setattr_ofWhatIsWrittenOverAnother_keepsItsOtherAttributes() throws Exception {
        m.bucket.put(
                "a",
                Content.of("1".getBytes(UTF_8)),
                ObjectProperties.ofNew("a")
                        .with(Map.of(META + "file-owner", "9", META + "file-mtime", "1000000000ns")));
        OpenFile file = m.open("a", O_RDWR);
        m.write(file, 1, "2");

        m.fs.setattr(m.lookup("a").inode(), file.handle(), mode(0600));
        m.close(file);

        assertThat(m.bucket.properties("a").headers())
                .containsEntry(META + "file-owner", "9")
                .containsEntry(META + "file-permissions", "0600")
                .doesNotContainKey(META + "file-mtime");
    }

    @Test
    void rename_newFileOverAnother_leavesNoneOfItsAttributes() throws Exception {
        m.bucket.put(
                "b",
                Content.of("old".getBytes(UTF_8)),
                ObjectProperties.ofNew("b.html")
                        .with(Map.of(META + "file-owner", "9", META + "penstock-xattrs", "user.secret=MQ")));
        OpenFile file = m.create("a", Mounted.O_WRONLY);
        m.rename("a", "b", 0);
        m.close(file);

        m.save("c", "");
        assertThat(m.bucket.properties("b")).isEqualTo(m.bucket.properties("c"));
    }

    @Test
    void fstat_ofAFileWhoseNameAnotherHasTaken_isItsOwn() throws Exception {
        m.save("a", "old");
        setattr("a", mode(0444));
        remount();
        m.lookup("a");
        OpenFile open = m.open("a", Mounted.O_RDWR);
        OpenFile other = m.create("b", Mounted.O_WRONLY);
        m.rename("b", "a", 0);
        m.close(other);
        m.lookup("a");

        assertThat(m.fs.getattr(m.fs.inodeOf(open.handle())).mode() & 07777).isEqualTo(0444);
        m.close(open);
    }

    @Test
    void setattr_ofADirectoryThatWasRemoved_doesNotMakeItAnew() throws Exception {
        m.mkdir("d");
        long inode = m.lookup("d").inode();
        m.rmdir("d");

        m.fs.setattr(inode, null, mode(0700));

        assertThat(m.stored("d/")).isNull();
    }

    // ---- changes whose response was lost

    private void loseAnswerOfChange(String key) {
        m.faults.next(
                call -> call.isWrite() && call.toString().contains(key),
                Fault.failAfterwards(ObjectStoreException.Unavailable::new));
    }

    @ParameterizedTest
    @ValueSource(strings = {"d", "e", "a"})
    void setattr_doneWithoutAnAnswer_isShown(String path) throws Exception {
        m.bucket.put("d/a", "1");
        m.mkdir("e");
        m.save("a", "1");
        assertThat(names("d")).hasSize(1);
        assertThat(m.lookup(path).mode() & 07777).isNotEqualTo(0700);
        loseAnswerOfChange(path.equals("a") ? "a" : path + "/");

        assertErrno(Errno.EIO, () -> setattr(path, mode(0700)));

        assertThat(m.lookup(path).mode() & 07777).isEqualTo(0700);
        setattr(path, owner(5, 6));
        assertThat(m.lookup(path).mode() & 07777).isEqualTo(0700);
    }

    @Test
    void mkdir_doneWithoutAnAnswer_hasItsAttributes() throws Exception {
        m.mkdir("d");
        m.rmdir("d");
        loseAnswerOfChange("d/");

        assertErrno(Errno.EIO, () -> m.fs.mkdir(FileSystem.ROOT, "d", 0700, OTHER));

        assertThat(m.lookup("d").mode()).isEqualTo(0040700);
        assertThat(m.lookup("d").uid()).isEqualTo(OTHER.uid());
    }

    /** All empty objects have one ETag, and these are of one second. */
    @Test
    void mknod_doneWithoutAnAnswer_isShownWhereALinkWas() throws Exception {
        m.fs.forget(m.fs.symlink("t", FileSystem.ROOT, "l", Mounted.CREATOR).inode(), 1);
        m.unlink("l");
        loseAnswerOfChange("l");

        assertErrno(Errno.EIO, () -> m.fs.mknod(FileSystem.ROOT, "l", 0010600, 0, Mounted.CREATOR));

        assertThat(m.lookup("l").mode()).isEqualTo(0010600);
    }

    @Test
    void close_doneWithoutAnAnswer_leavesWhatAnotherNodeHasSetSince() throws Exception {
        m.save("a", "old");
        OpenFile reader = m.open("a");
        setattr("a", mode(0700));
        OpenFile writer = m.open("a", Mounted.O_RDWR | O_TRUNC);
        m.write(writer, 0, "new");
        loseAnswerOfChange("a");

        assertErrno(Errno.EIO, () -> m.fs.flush(writer.handle()));
        assertThat(m.bucket.properties("a").headers()).containsEntry(META + "file-permissions", "0700");
        ObjectProperties others = ObjectProperties.ofNew("a").with(Map.of(META + "file-permissions", "0600"));
        m.bucket.put("a", Content.of("new".getBytes(UTF_8)), others);
        m.drainCalls();
        m.fs.release(writer.handle());
        m.drain();

        m.fs.checkInvariants();
        m.fs.release(reader.handle());
        m.drain();
        assertThat(m.bucket.properties("a")).isEqualTo(others);
    }

    /** An object with the content of an earlier run, but without its operation, belongs to another client. */
    @Test
    void nextMount_thatFindsTheContentOfAnother_leavesItAsItIs() throws Exception {
        m.save("a", "old");
        OpenFile writer = m.create("a", Mounted.O_RDWR | O_TRUNC);
        m.fs.setattr(m.fs.inodeOf(writer.handle()), writer.handle(), mode(0700));
        m.write(writer, 0, "new");
        m.fs.fsync(writer.handle());
        m.bucket.put("a", "new");
        Path staging = staging();
        Files.createDirectories(staging);

        m = m.crash(cache, staging);
        m.drain();

        assertThat(m.bucket.properties("a").headers()).doesNotContainKey(META + "file-permissions");
    }

    @Test
    void rename_doneWithoutAnAnswer_isShownWhereALinkWas() throws Exception {
        m.fs.forget(m.fs.symlink("t", FileSystem.ROOT, "l", Mounted.CREATOR).inode(), 1);
        setattr("l", times(TIME, TIME));
        m.save("a", "");
        loseAnswerOfChange("l");

        assertErrno(Errno.EIO, () -> m.rename("a", "l", 0));

        assertThat(m.lookup("l").mode()).isEqualTo(0100644);
        assertThat(m.lookup("l").modified()).isAfter(TIME);
    }

    @Test
    void symlink_thatTheStoreDoesNotTake_isNotThere() throws Exception {
        m.faults.always(Call::isWrite, Fault.fail(ObjectStoreException.AccessDenied::new));
        assertErrno(Errno.EACCES, () -> m.fs.symlink("t", FileSystem.ROOT, "l", Mounted.CREATOR));
        m.faults.heal();

        assertErrno(Errno.ENOENT, () -> m.lookup("l"));
    }

    @Test
    void lookup_whatAnotherProgramHasKept_isShownIfAllAreAsked() throws Exception {
        m.bucket.put(
                "a",
                Content.of("1".getBytes(UTF_8)),
                ObjectProperties.ofNew("a").with(Map.of(META + "file-permissions", "0600")));

        assertThat(m.lookup("a").mode()).isEqualTo(0100640);
        remount(Keeping.ALL);
        assertThat(m.lookup("a").mode()).isEqualTo(0100600);
    }

    /** s3fs keeps the target as the content. */
    @Test
    void lookup_linkOfS3fs_isALinkAlsoAfterAChangeOfItsOwner() throws Exception {
        m.bucket.put(
                "a",
                Content.of("the/target".getBytes(UTF_8)),
                ObjectProperties.ofNew("a").with(Map.of(META + "mode", "41471")));
        m.bucket.put(
                "f",
                Content.of(new byte[0]),
                ObjectProperties.ofNew("f").with(Map.of(META + "mode", "4516"))); // 0010644
        remount(Keeping.ALL);

        assertThat(m.lookup("a").mode()).isEqualTo(0120777);
        assertThat(m.lookup("a").size()).isEqualTo(10);
        assertThat(m.fs.readlink(m.lookup("a").inode())).isEqualTo("the/target");
        assertThat(m.lookup("f").mode()).isEqualTo(0010644);

        setattr("a", owner(5, 6));
        assertThat(m.fs.readlink(m.lookup("a").inode())).isEqualTo("the/target");
        remount(Keeping.ALL);
        assertThat(m.lookup("a").uid()).isEqualTo(5);
        assertThat(m.fs.readlink(m.lookup("a").inode())).isEqualTo("the/target");
    }

    @Test
    void setattr_ofWhatAnotherProgramHasKept_changesThatAlone() throws Exception {
        m.bucket.put(
                "a",
                Content.of("1".getBytes(UTF_8)),
                ObjectProperties.ofNew("a")
                        .with(new TreeMap<>(Map.of(META + "file-owner", "9", META + "note", "mine"))));

        setattr("a", mode(0600));

        assertThat(m.lookup("a").uid()).isEqualTo(9);
        assertThat(m.bucket.properties("a").headers()).containsEntry(META + "note", "mine");
    }

    @Test
    void setattr_whereAttributesAreIgnored_writesNone() throws Exception {
        remount(Keeping.IGNORE);
        m.save("a", "1");

        setattr("a", times(TIME, TIME));

        assertThat(m.lookup("a").modified()).isEqualTo(TIME);
        assertThat(m.bucket.properties("a").headers().keySet()).noneMatch(name -> name.startsWith(META));
        assertErrno(Errno.EPERM, () -> m.fs.symlink("t", FileSystem.ROOT, "l", Mounted.CREATOR));
        assertErrno(Errno.EOPNOTSUPP, () -> m.fs.setxattr(m.lookup("a").inode(), "user.x", new byte[1], 0));
    }

    @Test
    void write_ofAFileWithAttributes_keepsThem() throws Exception {
        m.save("a", "1");
        setattr("a", mode(0751));
        remount();
        OpenFile file = m.open("a", O_RDWR);

        m.write(file, 1, "2");
        m.close(file);

        assertThat(m.stored("a")).isEqualTo("12");
        remount();
        assertThat(m.lookup("a").mode()).isEqualTo(0100751);
    }
}
