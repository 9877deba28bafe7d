package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.O_RDWR;
import static io.penstock.filesystem.Mounted.O_WRONLY;
import static io.penstock.filesystem.Mounted.assertErrno;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.filesystem.names.RunningRename;
import io.penstock.filesystem.names.RunningRename.Step;
import io.penstock.metadata.attributes.KeptAttributes.Keeping;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.Fault;
import io.penstock.testing.Gate;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Renames of whole directories: the rules of POSIX, open files, and the state after failures and crashes. */
class DirectoryRenameTest extends OverOneCache {
    private static final int NOREPLACE = 1;

    @TempDir
    Path staging;

    private Mounted m;

    @BeforeEach
    void mount() {
        m = Mounted.keeping(cache, staging, null, Keeping.KEEP);
    }

    @AfterEach
    void unmount() {
        m.close();
    }

    /** The next mount of the bucket, on the same staging folder. */
    private void remount() {
        m.close();
        m = Mounted.after(m, cache, staging);
    }

    private void putTree() {
        m.bucket.put("d/", "");
        m.bucket.put("d/a", "1");
        m.bucket.put("d/b", "22");
        m.bucket.put("d/sub/", "");
        m.bucket.put("d/sub/c", "333");
        m.bucket.put("d/sub/deep/e", "4444");
        m.bucket.put("d//hidden", "55555");
        m.bucket.put("dd", "not in it");
    }

    private static Map<String, String> tree(String name) {
        return new TreeMap<>(Map.of(
                name + "/",
                "",
                name + "/a",
                "1",
                name + "/b",
                "22",
                name + "/sub/",
                "",
                name + "/sub/c",
                "333",
                name + "/sub/deep/e",
                "4444",
                name + "//hidden",
                "55555",
                "dd",
                "not in it"));
    }

    private Map<String, String> bucket() throws Exception {
        Map<String, String> all = new TreeMap<>();
        for (var object : m.bucket.list(ListRequest.of("", "")).objects()) {
            String key = object.version().key();
            if (key.equals(".penstock/")) {
                continue; // the root's marker
            }
            all.put(key, String.valueOf(m.stored(key)));
        }
        return all;
    }

    // ---- the objects moved

    @Test
    void rename_toANewName_movesAllOfIt() throws Exception {
        putTree();
        long directory = m.lookup("d").inode();
        long below = m.lookup("d/sub/c").inode();

        m.rename("d", "new", 0);

        assertThat(bucket()).isEqualTo(tree("new"));
        assertThat(m.lookup("new").inode()).isEqualTo(directory);
        assertThat(m.lookup("new/sub/c").inode()).isEqualTo(below);
        assertThat(m.cat("new/sub/c")).isEqualTo("333");
        assertErrno(Errno.ENOENT, () -> m.lookup("d"));
        assertThat(m.ls(FileSystem.ROOT, 10)).containsExactlyInAnyOrder("new", "dd");
        assertThat(staging).isDirectoryNotContaining("glob:**.rename");
    }

    @Test
    void rename_intoAnotherDirectoryAndBack_isAsBefore() throws Exception {
        putTree();
        m.mkdir("other");
        assertThat(m.cat("d/sub/deep/e")).isEqualTo("4444");

        m.rename("d/sub", "other/place", 0);
        assertThat(m.cat("other/place/deep/e")).isEqualTo("4444");
        m.rename("other/place", "d/sub", 0);

        assertThat(m.cat("d/sub/deep/e")).isEqualTo("4444");
        m.rmdir("other");
        assertThat(bucket()).isEqualTo(tree("d"));
    }

    @Test
    void rename_afterListings_showsTheNewNames() throws Exception {
        putTree();
        long d = m.lookup("d").inode();
        assertThat(m.ls(d, 10)).contains("a", "b", "sub");
        assertErrno(Errno.ENOENT, () -> m.lookup("new"));

        m.rename("d", "new", 0);

        assertThat(m.ls(d, 10)).contains("a", "b", "sub");
        assertThat(m.ls(m.lookup("new/sub").inode(), 10)).containsExactlyInAnyOrder("c", "deep");
    }

    @Test
    void rename_emptyDirectory_movesItsMarker() throws Exception {
        m.mkdir("d");

        m.rename("d", "new", 0);

        assertThat(bucket()).isEqualTo(Map.of("new/", ""));
    }

    @Test
    void rename_directoryThatWasEmptiedHere_isThereUnderItsNewName() throws Exception {
        m.bucket.put("d/a", "1");
        m.bucket.put("d/sub/b", "2");
        m.unlink("d/a");
        m.unlink("d/sub/b");

        m.rename("d", "new", 0);

        assertThat(m.ls(m.lookup("new").inode(), 10)).containsExactly("sub");
        assertErrno(Errno.ENOENT, () -> m.lookup("d"));
    }

    @Test
    void rename_ontoAnEmptyDirectory_bringsTheAttributesOfWhatIsBelow() throws Exception {
        m.mkdir("new");
        m.mkdir("a");
        m.mkdir("a/c");
        chmod("a/c", 01777);
        m.lookup("new");

        m.rename("a", "new", 0);

        assertThat(m.lookup("new/c").mode() & 07777).isEqualTo(01777);
    }

    /** Until then, the replaced directory has its object. */
    @Test
    void rename_ontoAnEmptyDirectoryBeforeItsMarker_staysPrivate() throws Exception {
        m.mkdir("new");
        m.mkdir("d");
        m.save("d/p", "1");
        chmod("d", 0700);
        chmod("d/p", 0600);
        remount();
        m.lookup("new");
        long d = m.lookup("d").inode();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                Gate replacing = m.delays.hold(
                        call -> call instanceof Call.Copy copy && copy.key().equals("new/"))) {
            Future<?> rename = threads.submit(() -> {
                m.rename("d", "new", 0);
                return null;
            });
            replacing.awaitHeld(1);

            Attributes p = m.fs.lookup(d, "p");
            m.fs.forget(p.inode(), 1);
            assertThat(p.mode() & 07777).isEqualTo(0600);
            assertThat(m.fs.getattr(d).mode() & 07777).isEqualTo(0700);
            m.clock.advance(Mounted.TTL); // the store is asked, and still has the other's
            var _ = m.fs.getattr(d);

            replacing.open();
            rename.get();
            assertThat(m.lookup("new").mode() & 07777).isEqualTo(0700);
            assertThat(m.lookup("new/p").mode() & 07777).isEqualTo(0600);
        }
    }

    @Test
    void rename_attributes_moveWithTheirObjects() throws Exception {
        m.mkdir("x");
        m.mkdir("x/d");
        m.mkdir("y");
        m.save("x/d/f", "1");
        chmod("x/d", 0700);
        chmod("x/d/f", 0600);
        var before = m.lookup("x/d/f");

        m.rename("x/d", "y/e", 0);

        assertThat(m.lookup("y/e").mode() & 07777).isEqualTo(0700);
        assertThat(m.lookup("y/e/f").mode() & 07777).isEqualTo(0600);
        assertThat(m.lookup("y/e/f").modified()).isEqualTo(before.modified());
        remount();
        assertThat(m.lookup("y/e").mode() & 07777).isEqualTo(0700);
        assertThat(m.lookup("y/e/f").mode() & 07777).isEqualTo(0600);
    }

    @Test
    void rename_privateDirectoryToAnUnmarkedOne_staysPrivate() throws Exception {
        m.bucket.put("x/d/f", "1");
        m.bucket.put("y/other", "2");
        chmod("x/d", 0700);

        m.rename("x/d", "y/e", 0);

        assertThat(m.lookup("y/e").mode() & 07777).isEqualTo(0700);
        remount();
        assertThat(m.lookup("y/e").mode() & 07777).isEqualTo(0700);
    }

    @Test
    void rename_toANameThatAnotherDirectoryHad_showsTheTimeThatWasSet() throws Exception {
        Instant time = Instant.parse("2001-02-03T04:05:06Z");
        m.mkdir("d");
        m.mkdir("d/e");
        m.rename("d", "other", 0);
        m.mkdir("empty");
        for (String path : List.of("other/e", "other")) {
            AttributeChange change = new AttributeChange(null, null, null, null, null, time, null);
            m.fs.setattr(m.lookup(path).inode(), null, change);
        }

        for (String[] names : new String[][] {{"other", "d"}, {"d", "empty"}}) {
            m.rename(names[0], names[1], 0);

            assertThat(m.lookup(names[1]).modified()).as(names[1]).isEqualTo(time);
            assertThat(m.lookup(names[1] + "/e").modified()).as(names[1]).isEqualTo(time);
        }
    }

    private void chmod(String path, int mode) throws ErrnoException {
        m.fs.setattr(m.lookup(path).inode(), null, new AttributeChange(mode, null, null, null, null, null, null));
    }

    // ---- refusals

    @Test
    void rename_ontoWhatIsThere_isAsPosixHasIt() throws Exception {
        putTree();
        m.bucket.put("full/x", "1");
        m.mkdir("empty");

        assertErrno(Errno.ENOTEMPTY, () -> m.rename("d", "full", 0));
        assertErrno(Errno.ENOTDIR, () -> m.rename("d", "dd", 0));
        assertErrno(Errno.EISDIR, () -> m.rename("dd", "d", 0));
        assertErrno(Errno.EEXIST, () -> m.rename("d", "empty", NOREPLACE));
        assertErrno(Errno.EINVAL, () -> m.rename("d", "d/sub/d", 0));
        assertErrno(Errno.ENOTEMPTY, () -> m.rename("d/sub", "d", 0));
        assertErrno(Errno.ENOENT, () -> m.rename("none", "new", 0));
        m.rename("d", "d", 0);
        m.unlink("full/x");
        m.rename("d", "empty", 0);

        assertThat(bucket()).isEqualTo(tree("empty"));
    }

    @Test
    void rename_ontoAnEmptyDirectory_hasItsOwnAttributes() throws Exception {
        m.mkdir("d");
        chmod("d", 0711);
        m.mkdir("empty");
        chmod("empty", 0700);

        m.rename("d", "empty", 0);

        assertThat(m.lookup("empty").mode() & 07777).isEqualTo(0711);
        assertErrno(Errno.ENOENT, () -> m.lookup("d"));
        remount();
        assertThat(m.lookup("empty").mode() & 07777).isEqualTo(0711);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rename_unmarkedOntoAnEmptyDirectory_hasNoneOfItsAttributes(boolean isEmptied) throws Exception {
        m.bucket.put("d/a", "1");
        if (isEmptied) {
            m.unlink("d/a");
        }
        int mode = m.lookup("d").mode();
        m.mkdir("empty");
        chmod("empty", 0700);

        m.rename("d", "empty", 0);

        assertThat(m.lookup("empty").mode()).isEqualTo(mode);
        remount();
        assertThat(m.lookup("empty").mode()).isEqualTo(mode);
        assertThat(bucket()).isEqualTo(isEmptied ? Map.of("empty/", "") : Map.of("empty/", "", "empty/a", "1"));
    }

    @Test
    void rename_targetMadeBySomebodyElse_isEnotempty() throws Exception {
        putTree();
        assertErrno(Errno.ENOENT, () -> m.lookup("new"));
        m.bucket.put("new/theirs", "1");

        assertErrno(Errno.ENOTEMPTY, () -> m.rename("d", "new", 0));

        assertThat(m.cat("new/theirs")).isEqualTo("1");
        assertThat(m.cat("d/a")).isEqualTo("1");
    }

    @Test
    void rename_tooLongAKey_isEnametoolong() throws Exception {
        String name = "n".repeat(200);
        m.bucket.put("d/" + "x/".repeat(450), "1");

        assertErrno(Errno.ENAMETOOLONG, () -> m.rename("d", name, 0));

        assertThat(bucket()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 6})
    void rename_moreObjectsThanSet_isExdev(int most) throws Exception {
        m.close();
        m = Mounted.renaming(cache, staging, m.bucket, most);
        putTree();

        assertErrno(Errno.EXDEV, () -> m.rename("d", "new", 0));

        assertThat(bucket()).isEqualTo(tree("d"));
        if (most > 0) {
            m.rename("d/sub", "new", 0);
            assertThat(m.cat("new/c")).isEqualTo("333");
        }
    }

    // ---- open files

    @Test
    void rename_openFiles_goOnUnderTheNewName() throws Exception {
        putTree();
        OpenFile reader = m.open("d/sub/c");
        OpenFile writer = m.open("d/b", O_RDWR);
        OpenFile fresh = m.create("d/sub/fresh", O_WRONLY);
        m.write(writer, 0, "changed");
        m.write(fresh, 0, "new");

        m.rename("d", "new", 0);
        assertThat(m.stored("new/b")).isEqualTo("changed");
        m.write(writer, 7, " twice");
        m.write(fresh, 3, " file");
        assertThat(m.read(reader)).isEqualTo("333");
        m.fs.release(reader.handle());
        m.close(writer);
        m.close(fresh);
        m.drain();

        Map<String, String> expected = tree("new");
        expected.put("new/b", "changed twice");
        expected.put("new/sub/fresh", "new file");
        assertThat(bucket()).isEqualTo(expected);
        assertThat(m.cat("new/b")).isEqualTo("changed twice");
    }

    @Test
    void rename_fileRemovedWhileOpen_staysRemoved() throws Exception {
        putTree();
        OpenFile writer = m.open("d/b", O_RDWR);
        m.unlink("d/b");
        m.write(writer, 0, "nowhere");

        m.rename("d", "new", 0);

        m.close(writer);
        m.drain();
        Map<String, String> expected = tree("new");
        expected.remove("new/b");
        assertThat(bucket()).isEqualTo(expected);
    }

    @Test
    void changesBelow_whileItIsRenamed_waitAndGoToTheNewName() throws Exception {
        putTree();
        long sub = m.lookup("d/sub").inode();
        long c = m.lookup("d/sub/c").inode();
        Gate copying = m.delays.hold(
                call -> call instanceof Call.Copy copy && copy.key().equals("new/a"));
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> rename = threads.submit(() -> {
                m.rename("d", "new", 0);
                return true;
            });
            copying.awaitHeld(1);
            Future<Long> create = threads.submit(() -> {
                CreatedFile made = m.fs.create(sub, "late", 0644, Mounted.CREATOR, O_WRONLY);
                m.close(made.open());
                return made.attributes().inode();
            });
            Future<?> unlink = threads.submit(() -> {
                m.fs.unlink(sub, "c");
                return true;
            });
            assertThat(m.cat("d/sub/deep/e")).isEqualTo("4444");
            Thread.sleep(50);
            assertThat(create.isDone() || unlink.isDone()).isFalse();
            copying.open();
            rename.get();
            m.fs.forget(create.get(), 1);
            unlink.get();
        }
        m.drain();

        Map<String, String> expected = tree("new");
        expected.remove("new/sub/c");
        expected.put("new/sub/late", "");
        assertThat(bucket()).isEqualTo(expected);
        assertErrno(Errno.ESTALE, () -> m.fs.getattr(c));
    }

    /** Changes that wait for no written content. */
    enum Below {
        SYMLINK,
        PIPE,
        LINK,
        CHMOD
    }

    private void change(Below change, long directory, long file) throws ErrnoException {
        long made = switch (change) {
            case SYMLINK ->
                m.fs.symlink("c", directory, "made", Mounted.CREATOR).inode();
            case PIPE ->
                m.fs.mknod(directory, "made", 0010644, 0, Mounted.CREATOR).inode();
            case LINK -> m.fs.link(file, directory, "made").inode();
            case CHMOD -> {
                m.fs.setattr(file, null, new AttributeChange(0600, null, null, null, null, null, null));
                yield 0;
            }
        };
        if (made != 0) {
            m.fs.forget(made, 1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void changesBelow_withoutContent_waitToo(Below change) throws Exception {
        putTree();
        long sub = m.lookup("d/sub").inode();
        long c = m.lookup("d/sub/c").inode();
        Gate copying = m.delays.hold(
                call -> call instanceof Call.Copy copy && copy.key().equals("new/a"));
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> rename = threads.submit(() -> {
                m.rename("d", "new", 0);
                return true;
            });
            copying.awaitHeld(1);
            Future<?> changed = threads.submit(() -> {
                change(change, sub, c);
                return true;
            });
            Thread.sleep(50);
            copying.open();
            rename.get();
            changed.get();
        }

        assertThat(bucket().keySet()).noneMatch(key -> key.startsWith("d/"));
        if (change == Below.CHMOD) {
            assertThat(m.lookup("new/sub/c").mode() & 07777).isEqualTo(0600);
        } else {
            assertThat(bucket()).containsKey("new/sub/made");
        }
    }

    @Test
    void lookup_directoryIsRenamedBeforeTheAnswer_isOfTheNewName() throws Exception {
        putTree();
        long deep = m.lookup("d/sub/deep").inode();
        Gate asking = m.delays.hold(
                call -> call instanceof Call.Head head && head.key().equals("d/sub/deep/e"));
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Long> lookup = threads.submit(() -> m.fs.lookup(deep, "e").inode());
            asking.awaitHeld(1);
            m.rename("d", "new", 0);
            asking.open();

            long found = lookup.get();
            assertThat(m.lookup("new/sub/deep/e").inode()).isEqualTo(found);
            m.fs.forget(found, 1);
        }
    }

    @Test
    void getattr_directoryIsRenamedBeforeTheAnswer_isOfTheNewName() throws Exception {
        putTree();
        long e = m.lookup("d/sub/deep/e").inode();
        m.clock.advance(Mounted.TTL);
        Gate asking = m.delays.hold(
                call -> call instanceof Call.Head head && head.key().equals("d/sub/deep/e"));
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Long> size = threads.submit(() -> m.fs.getattr(e).size());
            asking.awaitHeld(1);
            m.rename("d", "new", 0);
            asking.open();

            assertThat(size.get()).isEqualTo(4);
        }
    }

    // ---- an open directory

    @Test
    void readdir_renamedSinceOpendir_showsTheEntriesOfTheNewName() throws Exception {
        putTree();
        long handle = m.fs.opendir(m.lookup("d").inode()).handle();

        m.rename("d", "new", 0);

        assertThat(m.ls(handle, 0, 100)).containsExactly(".", "..", "sub", "a", "b");
        assertThat(m.ls(handle, 0, 100)).as("rewound").containsExactly(".", "..", "sub", "a", "b");
        m.fs.releasedir(handle);
    }

    @Test
    void readdir_renamedOnceReadInPart_goesOnWithTheNextEntry() throws Exception {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 2_500; i++) {
            names.add("%04d".formatted(i));
            m.bucket.put("d/" + names.getLast(), "");
        }
        long handle = m.fs.opendir(m.lookup("d").inode()).handle();
        List<String> seen = new ArrayList<>();
        long[] offset = {2};
        m.fs.readdir(handle, offset[0], (name, attributes, next) -> {
            if (seen.size() == 10) {
                return false;
            }
            offset[0] = next;
            return seen.add(name);
        });

        m.rename("d", "new", 0);

        seen.addAll(m.ls(handle, offset[0], 100));
        assertThat(seen).isEqualTo(names);
        m.fs.releasedir(handle);
    }

    @Test
    void readdirplus_renamedWhileItWaits_looksUpTheNewName() throws Exception {
        putTree();
        long handle = m.fs.opendir(m.lookup("d").inode()).handle();
        Map<String, Long> seen = new TreeMap<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                Gate asking = m.delays.hold(call ->
                        call instanceof Call.Describe describe && describe.key().equals("d/"))) {
            Future<?> reader = threads.submit(() -> {
                m.fs.readdirplus(handle, 2, (name, attributes, next) -> {
                    seen.put(name, attributes.inode());
                    return true;
                });
                return true;
            });
            asking.awaitHeld(1);
            m.rename("d", "new", 0);
            asking.open();
            assertThat(reader.get()).isEqualTo(true);
        }

        assertThat(seen).containsOnlyKeys("a", "b", "sub");
        for (Map.Entry<String, Long> each : seen.entrySet()) {
            assertThat(m.lookup("new/" + each.getKey()).inode()).isEqualTo(each.getValue());
            m.fs.forget(each.getValue(), 1);
        }
        m.fs.releasedir(handle);
    }

    @Test
    void readdir_renamedWhileItAsksForAName_showsTheNameAllTheSame() throws Exception {
        m.mkdir("d");
        OpenFile written = m.create("d/x", O_WRONLY);
        long handle = m.fs.opendir(m.lookup("d").inode()).handle(); // which takes x to be missing from the store
        m.close(written);
        m.drain();
        m.clock.advance(Mounted.TTL);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                Gate asking = m.delays.hold(
                        call -> call instanceof Call.Head head && head.key().equals("d/x"))) {
            Future<List<String>> reader = threads.submit(() -> m.ls(handle, 2, 100));
            asking.awaitHeld(1);
            m.rename("d", "new", 0);
            asking.open();
            assertThat(reader.get()).containsExactly("x");
        }
        m.fs.releasedir(handle);
    }

    @Test
    void rename_aBugWhileItCopies_leavesWhatIsMadeAtTheNewNameSince() throws Exception {
        putTree();
        Predicate<Call> bug = call -> {
            if (call instanceof Call.Copy copy && copy.key().equals("new/b")) {
                throw new IllegalStateException("a bug of the test");
            }
            return false;
        };
        m.faults.always(bug, Fault.fail(ObjectStoreException.Unavailable::new));
        assertThatThrownBy(() -> m.rename("d", "new", 0)).isInstanceOf(IllegalStateException.class);
        m.faults.heal();
        m.clock.advance(Mounted.TTL);

        m.save("new/a", "1"); // looks like the copy
        remount();

        assertThat(bucket()).containsAllEntriesOf(tree("d")).containsEntry("new/a", "1");
    }

    @Test
    void rename_aBugWhileItDeletes_isEioAndTheNextMountGoesOn() throws Exception {
        putTree();
        Predicate<Call> bug = call -> {
            if (call instanceof Call.Delete) {
                throw new IllegalStateException("a bug of the test");
            }
            return false;
        };
        m.faults.always(bug, Fault.fail(ObjectStoreException.Unavailable::new));

        assertErrno(Errno.EIO, () -> m.rename("d", "new", 0));

        m.faults.heal();
        remount();
        assertThat(bucket()).isEqualTo(tree("new"));
    }

    // ---- changes by other clients during a rename

    @Test
    void rename_objectsOfOthersMeanwhile_stayUnderTheOldName() throws Exception {
        putTree();
        Gate deleting = m.delays.hold(
                call -> call instanceof Call.Delete delete && delete.key().equals("d/b"));
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> rename = threads.submit(() -> {
                m.rename("d", "new", 0);
                return true;
            });
            deleting.awaitHeld(1);
            m.bucket.put("d/b", "theirs");
            m.bucket.put("d/other", "theirs too");
            deleting.open();
            rename.get();
        }

        Map<String, String> expected = tree("new");
        expected.put("d/b", "theirs");
        expected.put("d/other", "theirs too");
        assertThat(bucket()).isEqualTo(expected);
        assertThat(m.cat("d/b")).isEqualTo("theirs");
        assertThat(m.cat("new/b")).isEqualTo("22");
    }

    @Test
    void rename_objectChangedBeforeItsCopy_isMovedAsItIsNow() throws Exception {
        putTree();
        Gate copying =
                m.delays.hold(call -> call instanceof Call.Put put && put.key().equals("new/"));
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> rename = threads.submit(() -> {
                m.rename("d", "new", 0);
                return true;
            });
            copying.awaitHeld(1);
            m.bucket.put("d/a", "theirs");
            m.bucket.delete("d/b");
            copying.open();
            rename.get();
        }

        Map<String, String> expected = tree("new");
        expected.put("new/a", "theirs");
        expected.remove("new/b");
        assertThat(bucket()).isEqualTo(expected);
    }

    // ---- failures

    @Test
    void rename_interruptedWhileItCopies_isUndone() throws Exception {
        putTree();
        Gate copying = m.delays.hold(
                call -> call instanceof Call.Copy copy && copy.key().equals("new/sub/c"));
        AtomicReference<Errno> ended = new AtomicReference<>();
        Thread renaming = Thread.ofVirtual().start(() -> {
            try {
                m.rename("d", "new", 0);
            } catch (ErrnoException e) {
                ended.set(e.errno());
            }
        });
        copying.awaitHeld(1);
        renaming.interrupt();
        renaming.join();
        copying.open(); // the copy arrives after the call has ended
        m.drain();

        assertThat(ended).hasValue(Errno.EINTR);
        assertThat(bucket()).isEqualTo(tree("d"));
        assertThat(m.cat("d/sub/c")).isEqualTo("333");
        assertErrno(Errno.ENOENT, () -> m.lookup("new"));
    }

    @Test
    @Timeout(60)
    void rename_interruptedWhileTheStoreIsAway_endsAtOnce() throws Exception {
        putTree();
        Gate copying = m.delays.hold(
                call -> call instanceof Call.Copy copy && copy.key().equals("new/sub/c"));
        Gate undoing = m.delays.hold(call -> call instanceof Call.Delete);
        AtomicReference<Errno> ended = new AtomicReference<>();
        Thread renaming = Thread.ofVirtual().start(() -> {
            try {
                m.rename("d", "new", 0);
            } catch (ErrnoException e) {
                ended.set(e.errno());
            }
        });
        copying.awaitHeld(1);
        renaming.interrupt();
        renaming.join();
        assertThat(ended).hasValue(Errno.EINTR);
        copying.open();
        undoing.open();
        m.drain();

        assertThat(bucket()).isEqualTo(tree("d"));
    }

    @Test
    void runningRenames_whileOneRuns_tellHowFarItHasCome() throws Exception {
        putTree();
        int objects = 7; // those of putTree below d
        Gate copying = m.delays.hold(
                call -> call instanceof Call.Copy copy && copy.key().equals("new/sub/c"));
        Gate deleting = m.delays.hold(
                call -> call instanceof Call.Delete delete && delete.key().equals("d/b"));
        Thread renaming = Thread.ofVirtual().start(() -> {
            try {
                m.rename("d", "new", 0);
            } catch (ErrnoException e) {
                throw new AssertionError(e);
            }
        });

        copying.awaitHeld(1);
        assertThat(m.fs.runningRenames()).singleElement().satisfies(running -> {
            assertThat(running).isEqualTo(new RunningRename("d/", "new/", Step.COPYING, running.done(), objects));
            assertThat(running.done()).isLessThan(objects);
        });
        copying.open();
        deleting.awaitHeld(1);
        assertThat(m.fs.runningRenames())
                .extracting(RunningRename::step, RunningRename::all)
                .containsExactly(tuple(Step.DELETING, objects));
        deleting.open();
        renaming.join();

        assertThat(m.fs.runningRenames()).isEmpty();
    }

    @Test
    void rename_interruptedWhileItDeletes_isFinishedBehind() throws Exception {
        putTree();
        Gate deleting = m.delays.hold(
                call -> call instanceof Call.Delete delete && delete.key().equals("d/b"));
        AtomicReference<Errno> ended = new AtomicReference<>();
        Thread renaming = Thread.ofVirtual().start(() -> {
            try {
                m.rename("d", "new", 0);
            } catch (ErrnoException e) {
                ended.set(e.errno());
            }
        });
        deleting.awaitHeld(1);
        renaming.interrupt();
        renaming.join();
        assertThat(ended).hasValue(Errno.EINTR);
        assertThat(m.cat("new/b")).isEqualTo("22");
        assertErrno(Errno.ENOENT, () -> m.lookup("d"));
        deleting.open();
        m.drain();

        assertThat(bucket()).isEqualTo(tree("new"));
    }

    @Test
    void rename_anyRequestFailsOnce_movesAllOrNothing() throws Exception {
        boolean[] moved = new boolean[2];
        int requests = requests();
        for (int i = 0; i < requests; i++) {
            int index = i;
            for (Fault fault : new Fault[] {
                Fault.fail(ObjectStoreException.Unavailable::new),
                Fault.failAfterwards(ObjectStoreException.Throttled::new)
            }) {
                fresh();
                m.faults.next(from(index), fault);
                boolean succeeded = tryToRename();
                m.faults.heal();

                Map<String, String> now = succeeded ? bucket() : bucketWithoutACopyInDoubt();
                assertThat(now).as("request " + i + ": " + fault).isEqualTo(tree(succeeded ? "new" : "d"));
                assertThat(m.cat((succeeded ? "new" : "d") + "/sub/c")).isEqualTo("333");
                assertThat(staging).isDirectoryNotContaining("glob:**.rename");
                moved[succeeded ? 1 : 0] = true;
            }
        }
        assertThat(moved).containsOnly(true);
    }

    @Test
    void crash_atAnyRequest_isFinishedOrUndoneByTheNextMount() throws Exception {
        boolean[] moved = new boolean[2];
        int requests = requests();
        for (int i = 0; i < requests; i++) {
            for (boolean isDone : new boolean[] {false, true}) {
                fresh();
                if (isDone) {
                    m.faults.next(from(i), Fault.failAfterwards(ObjectStoreException.Unavailable::new));
                }
                m.faults.always(from(i), Fault.fail(ObjectStoreException.Unavailable::new));
                assertThat(tryToRename()).isFalse();
                remount();

                boolean isMoved = m.stored("d/a") == null;
                Map<String, String> now = isMoved ? bucket() : bucketWithoutACopyInDoubt();
                assertThat(now).as("request " + i).isEqualTo(tree(isMoved ? "new" : "d"));
                assertThat(m.cat((isMoved ? "new" : "d") + "/sub/c")).isEqualTo("333");
                assertThat(staging).isDirectoryNotContaining("glob:**.rename");
                moved[isMoved ? 1 : 0] = true;
            }
        }
        assertThat(moved).containsOnly(true);
    }

    /** The copy whose response was lost stays at the new name: it may be another client's object. */
    private Map<String, String> bucketWithoutACopyInDoubt() throws Exception {
        Map<String, String> now = bucket();
        List<String> copies =
                now.keySet().stream().filter(key -> key.startsWith("new/")).toList();
        assertThat(copies).hasSizeLessThan(2);
        now.keySet().removeAll(copies);
        return now;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void crash_ontoAnEmptyDirectory_leavesItOrItsSuccessor(boolean hasMarker) throws Exception {
        for (int i = 0; i < 40; i++) {
            fresh();
            m.bucket.put("new/", "");
            if (!hasMarker) {
                m.bucket.delete("d/"); // the rename creates one, which may stay
            }
            m.faults.always(from(i), Fault.fail(ObjectStoreException.Unavailable::new));
            boolean succeeded = tryToRename();
            m.faults.heal();
            remount();

            Map<String, String> old = tree("d");
            old.put("new/", "");
            Map<String, String> now = bucket();
            if (now.containsKey("d/a")) {
                now.put("d/", "");
            }
            assertThat(now).as("request " + i).isIn(old, tree("new"));
            if (succeeded) {
                return;
            }
        }
        throw new AssertionError("the rename needs more requests than expected");
    }

    @Test
    void nextMount_whatOthersHaveWrittenSince_stays() throws Exception {
        putTree();
        m.faults.always(call -> call instanceof Call.Delete, Fault.fail(ObjectStoreException.Unavailable::new));
        assertThat(tryToRename()).isFalse();
        m.bucket.put("d/a", "theirs");
        m.bucket.put("new/b", "theirs");
        m.bucket.put("d/other", "theirs");
        remount();

        Map<String, String> expected = tree("new");
        expected.put("d/a", "theirs");
        expected.put("new/b", "theirs");
        expected.put("d/b", "22"); // its copy is gone
        expected.put("d/other", "theirs");
        assertThat(bucket()).isEqualTo(expected);
    }

    /** Another client writes the same bytes, so size and ETag equal those of the copies. */
    private void othersWrite(String key, String same) {
        m.clock.advance(Duration.ofSeconds(1));
        m.bucket.put(key, same);
    }

    @Test
    void nextMount_copyMadeAgainByOthers_keepsTheOriginal() throws Exception {
        putTree();
        m.faults.always(call -> call instanceof Call.Delete, Fault.fail(ObjectStoreException.Unavailable::new));
        assertThat(tryToRename()).isFalse();
        m.bucket.delete("new/b");
        othersWrite("new/b", "22");
        remount();

        Map<String, String> expected = tree("new");
        expected.put("d/b", "22");
        assertThat(bucket()).isEqualTo(expected);
    }

    @Test
    void nextMount_sameObjectsOfOthersAtTheNewName_stayAfterTheUndo() throws Exception {
        failToUndo();
        othersWrite("new/b", "22"); // replaces the copy
        othersWrite("new/sub/c", "333"); // there is no copy
        remount();

        Map<String, String> expected = tree("d");
        expected.put("new/b", "22");
        expected.put("new/sub/c", "333");
        assertThat(bucket()).isEqualTo(expected);
    }

    @Test
    void nextMount_oldNameMadeAgainByOthers_leavesThat() throws Exception {
        putTree();
        m.bucket.put("new/", "");
        m.faults.always(call -> call instanceof Call.Delete, Fault.fail(ObjectStoreException.Unavailable::new));
        assertThat(tryToRename()).isFalse();
        othersWrite("d/", "");
        remount();

        Map<String, String> expected = tree("new");
        expected.put("d/", "");
        assertThat(bucket()).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"true, 0", "false, 0", "true, 1", "false, 1"})
    void rename_keyOfACopyTakenMeanwhile_isRefusedAndUndone(boolean checks, int flags) throws Exception {
        putTree();
        if (!checks) {
            m.bucket.ignoreConditionsOnCopies();
        }
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                Gate copying = m.delays.hold(
                        call -> call instanceof Call.Copy copy && copy.key().equals("new/sub/"))) {
            Future<?> rename = threads.submit(() -> {
                assertErrno(flags == NOREPLACE ? Errno.EEXIST : Errno.ENOTEMPTY, () -> m.rename("d", "new", flags));
                return true;
            });
            copying.awaitHeld(1);
            othersWrite("new/b", "22");
            copying.open();
            rename.get();
        }

        Map<String, String> expected = tree("d");
        expected.put("new/b", "22");
        assertThat(bucket()).isEqualTo(expected);
        assertThat(staging).isDirectoryNotContaining("glob:**.rename");
    }

    @Test
    void rename_aCopyIsRefused_leavesTheSameObjectOfOthers() throws Exception {
        putTree();
        m.faults.next(
                call -> call instanceof Call.Copy copy && copy.key().equals("new/sub/c"),
                Fault.fail((message, cause) -> {
                    while (!isStored("new/b")) {
                        Thread.onSpinWait();
                    }
                    othersWrite("new/b", "22"); // replaces the copy
                    return new ObjectStoreException.AccessDenied(message, cause);
                }));
        assertErrno(Errno.EACCES, () -> m.rename("d", "new", 0));

        Map<String, String> expected = tree("d");
        expected.put("new/b", "22");
        assertThat(bucket()).isEqualTo(expected);
    }

    private boolean isStored(String key) {
        try {
            return m.stored(key) != null;
        } catch (ObjectStoreException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void rename_outcomeOfACopyUnknown_leavesBothObjects() throws Exception {
        putTree();
        m.faults.next(
                call -> call instanceof Call.Copy copy && copy.key().equals("new/b"),
                Fault.failAfterwards(ObjectStoreException.OutcomeUnknown::new));
        assertThat(tryToRename()).isFalse();

        Map<String, String> expected = tree("d");
        expected.put("new/b", "22");
        assertThat(bucket()).isEqualTo(expected);
        assertErrno(Errno.ENOTEMPTY, () -> m.rename("d", "new", 0));
    }

    /** A rename that can neither copy everything nor delete its copies. */
    private void failToUndo() throws Exception {
        putTree();
        m.faults.always(
                call -> call instanceof Call.Delete
                        || (call instanceof Call.Copy copy && copy.key().equals("new/sub/c")),
                Fault.fail(ObjectStoreException.Unavailable::new));
        assertThat(tryToRename()).isFalse();
        m.faults.heal();
    }

    @Test
    void nextMount_namesUsedSinceAnUndoThatFailed_areLeftAlone() throws Exception {
        failToUndo();
        for (String key : bucket().keySet()) {
            if (key.startsWith("new/")) { // like rm -r
                m.bucket.delete(key);
            }
        }
        m.rename("d", "new", 0);
        assertThat(bucket()).isEqualTo(tree("new"));
        remount();

        assertThat(bucket()).isEqualTo(tree("new"));
    }

    @Test
    void nextMount_newNameTakenSinceAFailedUndo_leavesThat() throws Exception {
        m.bucket.put("other/a", "1"); // like d/a
        failToUndo();
        for (String key : bucket().keySet()) {
            if (key.startsWith("new/")) { // like rm -r on another node
                m.bucket.delete(key);
            }
        }
        m.rename("other", "new", 0);
        remount();

        assertThat(bucket()).containsEntry("new/a", "1").doesNotContainKey("other/a");
        assertThat(staging).isDirectoryNotContaining("glob:**.rename");
    }

    @Test
    void nextMount_refusedRenameSinceAFailedDeletion_finishesFirst() throws Exception {
        putTree();
        m.bucket.put("other/a", "1");
        m.faults.always(call -> call instanceof Call.Delete, Fault.fail(ObjectStoreException.Unavailable::new));
        assertThat(tryToRename()).isFalse();
        m.faults.heal();
        assertErrno(Errno.ENOTEMPTY, () -> m.rename("other", "new", 0));
        remount();

        Map<String, String> expected = tree("new");
        expected.put("other/a", "1");
        assertThat(bucket()).isEqualTo(expected);
    }

    @Test
    void nextMount_newNameWrittenSinceAnUndoThatFailed_leavesThat() throws Exception {
        failToUndo();
        assertThat(staging).isDirectoryContaining("glob:**.rename");
        m.save("new/a", "1"); // like cp -r
        remount();

        assertThat(m.stored("new/a")).isEqualTo("1");
        assertThat(m.stored("d/a")).isEqualTo("1");
        assertThat(staging).isDirectoryNotContaining("glob:**.rename");
    }

    @Test
    void nextMount_newNameWrittenSinceAFailedDeletion_keepsOriginals() throws Exception {
        putTree();
        m.faults.always(call -> call instanceof Call.Delete, Fault.fail(ObjectStoreException.Unavailable::new));
        assertThat(tryToRename()).isFalse();
        m.faults.heal();
        m.unlink("new/a");
        m.save("new/a", "another file");
        remount();

        assertThat(m.stored("new/a")).isEqualTo("another file");
        assertThat(m.stored("d/a")).isEqualTo("1");
        assertThat(m.stored("d/sub/c")).isEqualTo("333");
        assertThat(staging).isDirectoryNotContaining("glob:**.rename");
    }

    @Test
    @Timeout(30)
    void crash_beforeWrittenFilesHaveTheirNewNames_commitsThemThere(@TempDir Path found) throws Exception {
        putTree();
        OpenFile writer = m.open("d/b", O_RDWR);
        Gate copying = m.delays.hold(
                call -> call instanceof Call.Copy copy && copy.key().equals("new/a"));
        Gate deleting = m.delays.hold(call -> call instanceof Call.Delete);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Boolean> rename = threads.submit(this::tryToRename);
            copying.awaitHeld(1);
            m.write(writer, 0, "changed");
            m.fs.fsync(writer.handle());
            copyStaged("*", found);
            copying.open();
            deleting.awaitHeld(1);
            copyStaged("*.rename", found);
            m.faults.always(_ -> true, Fault.fail(ObjectStoreException.Unavailable::new));
            deleting.open();
            assertThat(rename.get()).isFalse();
        }
        m.fs.release(writer.handle());
        Mounted killed = m;
        m = Mounted.after(killed, cache, found);
        m.drain();

        Map<String, String> expected = tree("new");
        expected.put("new/b", "changed");
        assertThat(bucket()).isEqualTo(expected);
        killed.faults.heal();
        killed.close();
    }

    private void copyStaged(String glob, Path to) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(staging, glob)) {
            for (Path file : files) {
                Files.copy(file, to.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    /** A new bucket with only the tree. */
    private void fresh() throws Exception {
        m.close();
        m = Mounted.keeping(cache, staging, null, Keeping.KEEP);
        putTree();
    }

    /** The number of requests of a rename. */
    private int requests() throws Exception {
        putTree();
        m.lookup("d");
        m.drainCalls();
        m.rename("d", "new", 0);
        return m.drainCalls().size();
    }

    /** Matches the calls from this one on. */
    private static Predicate<Call> from(int index) {
        AtomicInteger calls = new AtomicInteger();
        return _ -> calls.getAndIncrement() >= index;
    }

    private boolean tryToRename() throws ErrnoException {
        try {
            m.rename("d", "new", 0);
            return true;
        } catch (ErrnoException e) {
            assertThat(e.errno()).isEqualTo(Errno.EIO);
            return false;
        }
    }
}
