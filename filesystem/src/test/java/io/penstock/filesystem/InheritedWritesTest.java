package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.O_RDWR;
import static io.penstock.filesystem.Mounted.O_WRONLY;
import static io.penstock.filesystem.Mounted.assertErrno;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.kernel.Inherited;
import io.penstock.filesystem.kernel.NotifiedKernel;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.Fault;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The kernel continues a writable mount with the numbers that a former process gave it. */
@Timeout(60)
class InheritedWritesTest extends OverWritableMount {
    private static final long LAST_NUMBER = 1000;

    @TempDir
    private Path found;

    private final List<Inherited.Node> nodes = new ArrayList<>();
    private final List<Inherited.File> files = new ArrayList<>();

    /** Before the mount is closed, which checks for leaks. */
    @AfterEach
    void forget() {
        for (Inherited.Node node : nodes) {
            m.fs.forget(node.number(), node.lookups());
        }
    }

    /** The kernel knows this path. */
    private long know(String path) throws ErrnoException {
        Attributes found = m.lookup(path);
        String name = path.substring(path.lastIndexOf('/') + 1);
        boolean isDirectory = (found.mode() & Attributes.S_IFMT) == Attributes.S_IFDIR;
        nodes.add(new Inherited.Node(found.inode(), m.parent(path), name, true, isDirectory, 1));
        return found.inode();
    }

    /** The name of this inode was removed, or given to another. */
    private void knowWithoutName(long number) {
        nodes.replaceAll(node -> node.number() == number
                ? new Inherited.Node(number, node.parent(), node.name(), false, node.isDirectory(), node.lookups())
                : node);
    }

    private void record(OpenFile file) throws ErrnoException {
        files.add(m.fs.openFile(file.handle()));
    }

    /** From here on the mount is that of the next process. */
    private void kill() throws Exception {
        m = m.kill(cache, found);
    }

    /** The content in staging is that of these handles. */
    private void belongsTo(OpenFile file) {
        long number = m.recovered().number();
        files.replaceAll(open -> open.handle() == file.handle()
                ? new Inherited.File(
                        open.handle(), open.node(), open.flags(), open.isCached(), open.backing(), number, null)
                : open);
    }

    private void inherit() throws ErrnoException {
        m.fs.inherit(new Inherited(nodes, files, List.of(), LAST_NUMBER, LAST_NUMBER), null);
        m.fs.addListener(new NotifiedKernel());
    }

    @Test
    void lostContent_isEioUntilTheRelease() throws Exception {
        OpenFile file = m.create("a", O_RDWR);
        m.write(file, 0, "hello");
        long number = know("a");
        record(file);
        m.fs.flush(file.handle());
        kill();
        inherit();

        assertThatThrownBy(() -> m.read(file))
                .isInstanceOfSatisfying(
                        ErrnoException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO))
                .hasMessageContaining("'a'");
        assertErrno(Errno.EIO, () -> m.write(file, 0, "x"));
        assertErrno(Errno.EIO, () -> m.fs.fsync(file.handle()));
        assertErrno(Errno.EIO, () -> m.fs.flush(file.handle()));
        assertThat(m.fs.inodeOf(file.handle())).isEqualTo(number);
        m.fs.release(file.handle());
        assertErrno(Errno.EBADF, () -> m.read(file));
        assertThat(m.stored("a")).isEqualTo("hello");
    }

    @Test
    void writtenContent_isJoinedByAllItsHandles() throws Exception {
        m.bucket.put("a", "old");
        OpenFile reader = m.open("a");
        record(reader); // it read the version
        know("a");
        OpenFile writer = m.open("a", O_RDWR);
        m.write(writer, 0, "new content");
        m.fs.fsync(writer.handle());
        record(writer);
        assertThat(files.getLast().content()).isPositive();
        assertThat(files.getLast().version()).isNull();
        int flags = m.flags(writer);
        kill();
        m.setFlags(writer, flags);
        belongsTo(writer);
        inherit();

        assertThat(m.read(reader)).isEqualTo("new content");
        m.write(writer, 0, "NEW");
        assertThat(m.read(reader)).isEqualTo("NEW content");
        assertThat(m.cat("a")).isEqualTo("NEW content");
        assertThat(m.stored("a")).as("the writer has it open").isEqualTo("old");
        m.close(writer);
        assertThat(m.stored("a")).isEqualTo("NEW content");
        assertThat(m.read(reader)).isEqualTo("NEW content");
        m.fs.checkInvariants();
        m.fs.release(reader.handle());
    }

    @Test
    void writtenContent_withoutAWriter_isCommitted() throws Exception {
        m.bucket.put("a", "old");
        OpenFile reader = m.open("a");
        record(reader);
        know("a");
        OpenFile writer = m.open("a", O_RDWR);
        m.write(writer, 0, "new content");
        m.fs.fsync(writer.handle());
        kill();
        inherit(); // the writer is closed

        m.drain();
        assertThat(m.stored("a")).isEqualTo("new content");
        assertThat(m.read(reader)).isEqualTo("new content");
        m.fs.release(reader.handle());
    }

    @Test
    void nameOfWrittenContent_isTruerThanTheInodes() throws Exception {
        m.bucket.put("b", "replaced");
        long replaced = know("b");
        OpenFile file = m.create("tmp", O_WRONLY);
        m.write(file, 0, "hello");
        m.fs.fsync(file.handle());
        long number = know("tmp");
        record(file);
        m.rename("tmp", "b", 0);
        kill();
        m.recovered().setInode(number);
        belongsTo(file);
        inherit();

        assertThat(m.fs.pathOf(number)).isEqualTo("/b");
        assertThat(m.fs.pathOf(replaced)).isNull();
        assertThat(m.lookup("b").inode()).isEqualTo(number);
        assertErrno(Errno.ENOENT, () -> m.lookup("tmp"));
        m.close(file);
        assertThat(m.stored("b")).isEqualTo("hello");
    }

    @Test
    void removedFile_isReadUntilItsRelease() throws Exception {
        m.bucket.put("a", "hello");
        m.cat("a"); // its pages are in the cache, which both processes share
        OpenFile file = m.open("a");
        record(file);
        long removed = know("a");
        m.unlink("a");
        m.save("a", "another");
        long another = know("a");
        knowWithoutName(removed);
        kill();
        inherit();

        assertThat(m.read(file)).isEqualTo("hello");
        assertThat(m.fs.getattr(removed).size()).isEqualTo(5);
        assertThat(m.fs.getattr(removed).links()).isZero();
        assertThat(m.lookup("a").inode()).isEqualTo(another);
        assertThat(m.cat("a")).isEqualTo("another");
        m.fs.release(file.handle());
        assertErrno(Errno.ESTALE, () -> m.fs.getattr(removed));
    }

    @Test
    void removedDirectory_isNotTheNextOfItsName() throws Exception {
        m.mkdir("d");
        long removed = know("d");
        m.rmdir("d");
        m.mkdir("d");
        long another = know("d");
        knowWithoutName(removed);
        kill();
        inherit();

        assertErrno(Errno.ENOENT, () -> m.fs.mkdir(removed, "sub", 0755, Mounted.CREATOR));
        assertThat(m.lookup("d").inode()).isEqualTo(another);
        assertThat(m.fs.pathOf(another)).isEqualTo("/d/");
    }

    @Test
    void renamedDirectory_itsOpenFilesReadTheCopies() throws Exception {
        m.bucket.put("d/sub/a", "hello");
        m.bucket.put("b", "elsewhere");
        OpenFile file = m.open("d/sub/a");
        OpenFile other = m.open("b");
        record(other);
        m.rename("d", "e", 0);
        files.addAll(m.fs.openFiles(FileSystem.ROOT, "e"));
        assertThat(files).hasSize(2);
        know("e");
        know("e/sub");
        long number = know("e/sub/a");
        know("b");
        kill();
        inherit();

        assertThat(m.read(file)).isEqualTo("hello");
        assertThat(m.read(other)).isEqualTo("elsewhere");
        assertThat(m.fs.pathOf(number)).isEqualTo("/e/sub/a");
        m.fs.release(file.handle());
        m.fs.release(other.handle());
    }

    @Test
    void renameOfADirectory_cutShort_isFollowed() throws Exception {
        m.bucket.put("d/a", "hello");
        OpenFile file = m.open("d/a");
        record(file);
        know("d");
        long number = know("d/a");
        m.faults.always(call -> call instanceof Call.Delete, Fault.fail(ObjectStoreException.Unavailable::new));
        assertThatThrownBy(() -> m.rename("d", "e", 0)).isInstanceOf(ErrnoException.class);
        kill();
        inherit();

        assertThat(m.fs.pathOf(number)).isEqualTo("/e/a");
        assertThat(m.read(file)).isEqualTo("hello");
        assertErrno(Errno.ENOENT, () -> m.lookup("d"));
        m.fs.release(file.handle());
    }

    @Test
    void emptiedDirectory_stays() throws Exception {
        m.bucket.put("d/a", "hello");
        long number = know("d");
        m.unlink("d/a");
        kill();
        inherit();

        assertThat(m.lookup("d").inode()).isEqualTo(number);
        m.clock.advance(Mounted.TTL.plus(Duration.ofSeconds(1)));
        assertThat(m.ls(FileSystem.ROOT, 10)).isEmpty();
        assertErrno(Errno.ENOENT, () -> m.lookup("d"));
    }
}
