package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.O_TRUNC;
import static io.penstock.filesystem.Mounted.O_WRONLY;
import static io.penstock.filesystem.Mounted.assertErrno;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.filesystem.names.RemovalBurst;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.Fault;
import io.penstock.writeback.WritebackConfig.Close;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A store that refuses files, and programs that may not have noticed. */
@Timeout(60)
class UnheardErrorsTest extends OverWritableMount {
    @BeforeEach
    void refuse() {
        refuse(m);
    }

    private static void refuse(Mounted mount) {
        mount.faults.always(Call.Put.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));
    }

    private static OpenFile open(Mounted mount, String name) throws ErrnoException {
        return mount.create(name, O_WRONLY | O_TRUNC);
    }

    /** Like a shell's {@code : > a}, which duplicates the descriptor, and does not see the last close's error. */
    private static void redirectTo(Mounted mount, String name) throws ErrnoException {
        OpenFile file = open(mount, name);
        mount.fs.flush(file.handle(), () -> true);
        assertErrno(Errno.EACCES, () -> mount.fs.flush(file.handle(), () -> false));
        mount.fs.release(file.handle());
    }

    /** @param given whether the file has been given up by the time of the next open */
    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    void open_afterARefusedRedirection_failsOnce(boolean existing, boolean given) throws Exception {
        if (existing) {
            m.bucket.put("a", "before");
        }
        redirectTo(m, "a");
        if (given) {
            m.drain();
        }

        assertErrno(Errno.EACCES, () -> open(m, "a"));

        m.drain();
        assertThat(m.stored("a")).isEqualTo(existing ? "before" : null);
        if (existing) {
            assertThat(m.cat("a")).isEqualTo("before");
        }
        m.faults.heal();
        m.save("a", "after");
        assertThat(m.stored("a")).isEqualTo("after");
    }

    @Test
    void open_afterTheOnlyDescriptorsClose_succeeds() throws Exception {
        OpenFile file = open(m, "a");
        assertErrno(Errno.EACCES, () -> m.close(file));
        m.drain();

        assertErrno(Errno.EACCES, () -> m.close(open(m, "a")));
        m.drain();
        m.faults.heal();
        m.save("a", "after");
        assertThat(m.stored("a")).isEqualTo("after");
    }

    /** Of processes that the mount may not see. */
    @Test
    void close_ofEachDescriptor_reportsTheError() throws Exception {
        OpenFile file = open(m, "a");
        for (int descriptor = 0; descriptor < 3; descriptor++) {
            assertErrno(Errno.EACCES, () -> m.fs.flush(file.handle(), () -> false));
        }
        m.fs.release(file.handle());
    }

    @Test
    void open_afterTheNameWasRemovedOrWritten_succeeds() throws Exception {
        OpenFile removed = open(m, "removed");
        m.fs.flush(removed.handle(), () -> true);
        assertErrno(Errno.EACCES, () -> m.fs.flush(removed.handle(), () -> false));
        m.unlink("removed");
        m.fs.release(removed.handle());
        redirectTo(m, "written");
        m.drain();
        m.bucket.put("written", "by another node");
        m.faults.heal();

        m.save("removed", "1");
        m.save("written", "2");

        assertThat(m.stored("removed")).isEqualTo("1");
        assertThat(m.stored("written")).isEqualTo("2");
    }

    @Test
    void open_afterAStagedCloseThatWasRefusedLater_failsOnce(@TempDir Path folder) throws Exception {
        try (Mounted staged = Mounted.writable(cache, m.bucket, Mounted.config(folder, Close.STAGED))) {
            refuse(staged);
            staged.save("a", "1");
            staged.drain();

            assertErrno(Errno.EACCES, () -> open(staged, "a"));
            staged.faults.heal();
            staged.save("a", "2");
            staged.drain();
            assertThat(m.stored("a")).isEqualTo("2");
        }
    }

    @Test
    void open_afterAChmodOfAStagedFileThatWasRefused_failsOnce(@TempDir Path folder) throws Exception {
        try (Mounted staged = Mounted.keeping(cache, m.bucket, Mounted.config(folder, Close.STAGED))) {
            refuse(staged);
            staged.save("a", "1");
            AttributeChange mode = new AttributeChange(0600, null, null, null, null, null, null);
            staged.fs.setattr(staged.lookup("a").inode(), null, mode);
            staged.drain();

            assertErrno(Errno.EACCES, () -> open(staged, "a"));
            staged.close(open(staged, "a"));
        }
    }

    /** A killed program's handle is released without a flush. */
    @Test
    void open_afterAKilledWriterWhileOthersRead_failsOnce() throws Exception {
        m.bucket.put("a", "before");
        OpenFile reader = m.open("a");
        OpenFile writer = m.open("a", O_WRONLY);
        m.write(writer, 0, "after");
        m.fs.release(writer.handle());
        m.drain();
        m.fs.release(reader.handle());
        m.drain();

        assertErrno(Errno.EACCES, () -> open(m, "a"));
        m.faults.heal();
        m.save("a", "after");
    }

    /** Equal content has an equal version. */
    @Test
    void open_afterALaterCommitOfEqualContent_succeeds() throws Exception {
        m.bucket.put("a", "");
        OpenFile file = open(m, "a");
        m.fs.flush(file.handle(), () -> true);
        assertErrno(Errno.EACCES, () -> m.fs.flush(file.handle(), () -> false));
        m.faults.heal();
        m.fs.release(file.handle());
        m.drain();

        m.close(open(m, "a"));
    }

    @Test
    void open_afterTheFailedFilesNameHadAnother_succeeds() throws Exception {
        m.bucket.put("moved", "before");
        for (String name : List.of("made", "removed", "moved", "given")) {
            redirectTo(m, name);
        }
        m.drain();
        m.faults.heal();
        m.bucket.put("removed", "by another node");
        m.bucket.put("given", "by another node");
        m.clock.advance(Mounted.TTL);

        m.mkdir("made");
        m.rmdir("made");
        m.unlink("removed");
        m.rename("given", "elsewhere", 0);
        m.rename("moved", "else", 0);
        m.rename("else", "moved", 0);

        for (String name : List.of("made", "removed", "given", "moved")) {
            m.close(m.create(name, O_WRONLY));
        }
    }

    /** Like files that are deleted by the thousand. */
    @Test
    void open_rightAfterABurstOfRemovals_succeeds() throws Exception {
        List<String> names = IntStream.range(0, 2 * RemovalBurst.FIRST)
                .mapToObj(i -> "f" + i)
                .toList();
        for (String name : names) {
            redirectTo(m, name);
        }
        m.drain();
        m.faults.heal();
        for (String name : names) {
            m.bucket.put(name, "by another node");
        }
        m.clock.advance(Mounted.TTL);
        for (String name : names) {
            m.unlink(name);
        }

        for (String name : names.reversed()) {
            m.close(m.create(name, O_WRONLY));
        }
    }

    /** Its content stays the previous one. */
    @Test
    void open_afterAChmodOfTheFailedFile_failsOnce(@TempDir Path folder) throws Exception {
        try (Mounted keeping = Mounted.keeping(cache, m.bucket, Mounted.config(folder, Close.VISIBLE))) {
            m.bucket.put("a", "before");
            refuse(keeping);
            redirectTo(keeping, "a");
            keeping.drain();
            keeping.faults.heal();
            AttributeChange mode = new AttributeChange(0600, null, null, null, null, null, null);
            keeping.fs.setattr(keeping.lookup("a").inode(), null, mode);

            assertErrno(Errno.EACCES, () -> open(keeping, "a"));
            keeping.close(open(keeping, "a"));
        }
    }
}
