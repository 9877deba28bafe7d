package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.assertErrno;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.kernel.BackingFiles;
import io.penstock.filesystem.kernel.Inherited;
import io.penstock.filesystem.kernel.NotifiedKernel;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.filesystem.kernel.OpenFile.PageCachePolicy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The kernel continues with the numbers that a former process gave it. */
@Timeout(60)
class InheritedTest extends OverOneCache {
    private static final long LAST_NODE = 1000;
    private static final long LAST_HANDLE = 2000;

    /** Handles of the former process. */
    private static final long HANDLE = 1999;

    private static final long OTHER_HANDLE = 2000;

    /** An inode of the former process. */
    private static final long NODE = 999;

    @TempDir
    private Path staging;

    private final NotifiedKernel kernel = new NotifiedKernel();
    private Mounted former;
    private Mounted m;

    @BeforeEach
    void mount() {
        former = new Mounted(cache);
        m = Mounted.successor(former, cache, staging);
        m.fs.addListener(kernel);
    }

    @AfterEach
    void nothingIsLeft() {
        m.close();
        former.close();
    }

    private void inherit(
            List<Inherited.Node> nodes,
            List<Inherited.File> files,
            List<Inherited.Directory> directories,
            @Nullable BackingFiles kernel)
            throws ErrnoException {
        m.fs.inherit(new Inherited(nodes, files, directories, LAST_NODE, LAST_HANDLE), kernel);
    }

    /** As the former process had it open. */
    private static Inherited.File file(long handle, ObjectVersion version, int backing) {
        return new Inherited.File(handle, NODE, 0, true, backing, 0, version);
    }

    private ObjectVersion openedVersion(String path) throws ErrnoException {
        OpenFile file = former.open(path);
        ObjectVersion version =
                Objects.requireNonNull(former.fs.openFile(file.handle()).version());
        former.fs.release(file.handle());
        return version;
    }

    @Test
    void inodes_haveTheirNumbersUntilTheyAreForgotten() throws Exception {
        m.bucket.put("d/a", "hello");
        m.bucket.put("d/b", "other");
        inherit(
                List.of(
                        new Inherited.Node(7, 8, "a", true, false, 3), // the directory was looked up again later
                        new Inherited.Node(8, FileSystem.ROOT, "d", true, true, 0)),
                List.of(),
                List.of(),
                null);

        assertThat(m.fs.getattr(7).size()).isEqualTo(5);
        assertThat(m.fs.pathOf(7)).isEqualTo("/d/a");
        assertErrno(Errno.ESTALE, () -> m.fs.getattr(8));
        long directory = m.lookup("d").inode();
        assertThat(directory).isGreaterThan(LAST_NODE);
        assertThat(m.lookup("d/a").inode()).isEqualTo(7);
        assertThat(m.lookup("d/b").inode()).isGreaterThan(LAST_NODE);
        m.fs.forget(7, 3);
    }

    @Test
    void inodes_inNoKnownDirectory_areRefused() {
        assertThatThrownBy(() ->
                        inherit(List.of(new Inherited.Node(7, 8, "a", true, false, 1)), List.of(), List.of(), null))
                .isInstanceOf(ErrnoException.class)
                .hasMessageContaining("7");
        assertThatThrownBy(() -> inherit(
                        List.of(
                                new Inherited.Node(7, 8, "a", true, true, 1),
                                new Inherited.Node(8, 7, "b", true, true, 1)),
                        List.of(),
                        List.of(),
                        null))
                .as("in a circle")
                .isInstanceOf(ErrnoException.class);
    }

    @Test
    void file_replacedSince_readsTheVersionThatWasOpened() throws Exception {
        m.bucket.put("a", "hello");
        ObjectVersion opened = openedVersion("a");
        former.cat("a"); // its pages are in the cache, which both processes share
        m.bucket.put("a", "newer content");
        inherit(
                List.of(new Inherited.Node(NODE, FileSystem.ROOT, "a", true, false, 1)),
                List.of(file(HANDLE, opened, 0)),
                List.of(),
                null);

        OpenFile inherited = new OpenFile(HANDLE, PageCachePolicy.KEEP);
        assertThat(m.read(inherited)).isEqualTo("hello");
        assertThat(m.fs.getattr(NODE).size())
                .as("as long as the kernel has pages of it")
                .isEqualTo(5);
        long replaced = m.lookup("a").inode();
        assertThat(replaced).as("another version is another inode").isGreaterThan(LAST_NODE);
        assertThat(m.cat("a")).isEqualTo("newer content");
        m.fs.release(HANDLE);
        m.fs.forget(NODE, 1);
    }

    /** As a file that is bind-mounted into a container. The kernel forgets the attributes before it gets the reply. */
    @Test
    void open_withoutALookup_makesTheKernelAskForAttributes() throws Exception {
        m.bucket.put("a", "hello");
        inherit(List.of(new Inherited.Node(NODE, FileSystem.ROOT, "a", true, false, 1)), List.of(), List.of(), null);
        kernel.drain();

        OpenFile file = m.fs.open(NODE, 0);
        assertThat(kernel.drain()).containsExactly("inode " + NODE);
        assertThat(m.fs.getattr(NODE).size()).isEqualTo(5);
        assertThat(file.pageCache()).isEqualTo(PageCachePolicy.INVALIDATE);
        assertThat(m.read(file)).isEqualTo("hello");
        m.fs.release(file.handle());
        m.fs.forget(NODE, 1);
    }

    @Test
    void passedThrough_sharesItsFileUntilTheLastRelease() throws Exception {
        FakeBackingFiles kernel = new FakeBackingFiles();
        int backing = kernel.open(staging);
        m.bucket.put("a", "hello");
        ObjectVersion opened = openedVersion("a");
        inherit(
                List.of(new Inherited.Node(NODE, FileSystem.ROOT, "a", true, false, 1)),
                List.of(file(HANDLE, opened, backing), file(OTHER_HANDLE, opened, backing)),
                List.of(),
                kernel);

        OpenFile another = m.fs.open(NODE, 0, kernel);
        assertThat(another.pageCache()).isEqualTo(PageCachePolicy.PASS_THROUGH);
        assertThat(another.backing()).isEqualTo(backing);
        assertThat(another.handle()).isGreaterThan(LAST_HANDLE);
        m.fs.release(HANDLE);
        m.fs.release(another.handle());
        assertThat(kernel.count()).isOne();
        m.fs.release(OTHER_HANDLE);
        assertThat(kernel.count()).isZero();
        m.fs.forget(NODE, 1);
    }

    /** The kernel refuses handles of other kinds until the last one is released. */
    @Test
    void passedThrough_switchedOffSince_staysSoUntilTheLastRelease() throws Exception {
        FakeBackingFiles backingFiles = new FakeBackingFiles();
        int backing = backingFiles.open(staging);
        m.bucket.put("a", "hello");
        inherit(
                List.of(new Inherited.Node(NODE, FileSystem.ROOT, "a", true, false, 1)),
                List.of(file(HANDLE, openedVersion("a"), backing)),
                List.of(),
                backingFiles);

        OpenFile another = m.fs.open(NODE, 0, null);
        assertThat(another.backing()).isEqualTo(backing);
        m.fs.release(another.handle());
        m.fs.release(HANDLE);
        assertThat(backingFiles.count()).isZero();
        OpenFile later = m.fs.open(NODE, 0, null);
        assertThat(later.backing()).isZero();
        m.fs.release(later.handle());
        m.fs.forget(NODE, 1);
    }

    @Test
    void directory_changedSince_returnsEachNameOnce() throws Exception {
        for (String name : List.of("b", "c", "d", "e")) {
            m.bucket.put("dir/" + name, name);
        }
        // The former process returned e, a and c, in its listing's order, and skipped one. Now a is gone, and ba is
        // new.
        m.bucket.put("dir/ba", "new");
        inherit(
                List.of(new Inherited.Node(NODE, FileSystem.ROOT, "dir", true, true, 1)),
                List.of(),
                List.of(new Inherited.Directory(HANDLE, NODE, Map.of(3L, "e", 4L, "a", 6L, "c"))),
                null);

        assertThat(names(6)).containsExactly("b", "ba", "d");
        assertThat(names(3)).as("as the kernel asks if it had room for e only").containsExactly("c", "b", "ba", "d");
        assertThat(names(0)).containsExactly(".", "..", "b", "ba", "c", "d", "e");
        m.fs.releasedir(HANDLE);
        m.fs.forget(NODE, 1);
    }

    private List<String> names(long from) throws ErrnoException {
        List<String> names = new ArrayList<>();
        long[] offset = {from};
        int before;
        do {
            before = names.size();
            m.fs.readdir(HANDLE, offset[0], (name, _, next) -> {
                names.add(name);
                offset[0] = next;
                return true;
            });
        } while (names.size() > before);
        return names;
    }
}
