package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.O_APPEND;
import static io.penstock.filesystem.Mounted.O_CREAT;
import static io.penstock.filesystem.Mounted.O_EXCL;
import static io.penstock.filesystem.Mounted.O_RDWR;
import static io.penstock.filesystem.Mounted.O_SYNC;
import static io.penstock.filesystem.Mounted.O_TRUNC;
import static io.penstock.filesystem.Mounted.O_WRONLY;
import static io.penstock.filesystem.Mounted.assertErrno;
import static io.penstock.filesystem.kernel.OpenFile.PageCachePolicy.KEEP;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.Errno;
import io.penstock.core.NoWait;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.Content;
import io.penstock.testing.Fault;
import io.penstock.testing.Gate;
import io.penstock.testing.TestData;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The effects of write, fsync and close, by handle. */
@Timeout(60)
class WritingTest extends OverWritableMount {
    // fallocate(2).
    private static final int KEEP_SIZE = 1;
    private static final int PUNCH_HOLE = 2;
    private static final int ZERO_RANGE = 0x10;

    private static final int SEEK_DATA = 3;
    private static final int SEEK_HOLE = 4;

    // ---- create, write, close

    @Test
    void write_overAnObject_keepsWhatItHasBesideItsBytes() throws Exception {
        ObjectProperties properties = new ObjectProperties(
                new TreeMap<>(Map.of("content-type", "text/x-own", "x-amz-storage-class", "STANDARD_IA")),
                Map.of("team", "web"));
        m.bucket.put("a", Content.of(new byte[10]), properties);

        m.save("a", "new");

        assertThat(m.bucket.properties("a")).isEqualTo(properties);
        long inode = m.lookup("a").inode();
        assertThat(new String(m.fs.getxattr(inode, "user.penstock.storage-class"), StandardCharsets.UTF_8))
                .isEqualTo("STANDARD_IA");
    }

    @Test
    void create_writtenAndClosed_isVisible() throws Exception {
        OpenFile file = m.create("a", O_WRONLY);
        m.write(file, 0, "hello");
        assertThat(m.stored("a")).isNull();

        m.close(file);

        assertThat(m.stored("a")).isEqualTo("hello");
        assertThat(m.cat("a")).isEqualTo("hello");
        assertThat(m.lookup("a").size()).isEqualTo(5);
    }

    @Test
    void create_notYetClosed_showsAtOnceWithItsSizeAndTime() throws Exception {
        m.clock.advance(java.time.Duration.ofSeconds(100));
        OpenFile file = m.create("a", O_RDWR);
        m.write(file, 0, "hello");

        assertThat(m.lookup("a").size()).isEqualTo(5);
        assertThat(m.lookup("a").modified()).isEqualTo(m.clock.instant());
        assertThat(m.ls(FileSystem.ROOT, 10)).containsExactly("a");
        assertThat(m.read(file)).isEqualTo("hello");
        assertThat(m.cat("a")).isEqualTo("hello");
        m.close(file);
        assertThat(m.ls(FileSystem.ROOT, 10)).containsExactly("a");
    }

    @Test
    void create_closedEmpty_isCommittedByThatClose() throws Exception {
        OpenFile file = m.create("a", O_WRONLY);

        m.fs.flush(file.handle());
        assertThat(m.stored("a")).isEmpty();

        m.fs.release(file.handle());
        assertThat(m.lookup("a").size()).isZero();
        assertThat(m.store.only(Call.Put.class)).hasSize(1);
    }

    /** Like touch(1), {@code : > file} and {@code open(path, "w").close()}. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void close_ofAnEmptyFileThatTheStoreRefuses_fails(boolean existing) throws Exception {
        if (existing) {
            m.bucket.put("a", "hello");
        }
        m.faults.next(Call.Put.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));
        OpenFile file = existing ? m.open("a", O_WRONLY | O_TRUNC) : m.create("a", O_WRONLY);

        assertErrno(Errno.EACCES, () -> m.fs.flush(file.handle()));
        m.fs.release(file.handle());
        m.drain();
        assertThat(m.stored("a")).as("it was tried again").isEmpty();
    }

    @Test
    void close_writtenOnce_costsOnePut() throws Exception {
        m.save("a", "hello");

        assertThat(m.store.only(Call.Put.class)).hasSize(1);
    }

    /** Like flock(1). */
    @Test
    void create_toBeReadOnly_isCommittedAndOpensAgain() throws Exception {
        OpenFile lock = m.create("lock", O_CREAT);
        OpenFile writer = m.open("lock", O_WRONLY);
        m.write(writer, 0, "hello");
        m.close(writer);
        assertThat(m.stored("lock"))
                .as("the other handle cannot write, and is never flushed")
                .isEqualTo("hello");
        m.fs.release(lock.handle());

        m.drain();
        assertThat(m.stored("lock")).isEqualTo("hello");
        assertThat(m.cat("lock")).isEqualTo("hello");
        m.bucket.delete("lock");
        m.clock.advance(Mounted.TTL);
        assertErrno(Errno.ENOENT, () -> m.lookup("lock"));
    }

    @Test
    void open_truncatedToBeReadOnly_isCommitted() throws Exception {
        m.bucket.put("a", "hello");
        OpenFile file = m.open("a", O_TRUNC);
        assertErrno(Errno.EBADF, () -> m.write(file, 0, "no"));

        m.close(file);

        m.drain();
        assertThat(m.stored("a")).isEmpty();
        assertThat(m.cat("a")).isEmpty();
    }

    @Test
    void mknod_notCommitted_leavesNoInode() throws Exception {
        m.faults.next(call -> call instanceof Call.Put, Fault.fail(ObjectStoreException.AccessDenied::new));
        int before = m.fs.inodesInUse();

        assertErrno(Errno.EACCES, () -> m.fs.mknod(FileSystem.ROOT, "a", 0, 0, Mounted.CREATOR));

        m.drain();
        assertThat(m.fs.inodesInUse()).isEqualTo(before);
    }

    @Test
    void create_existsWithExcl_isEexist() throws Exception {
        m.bucket.put("a", "1");

        assertErrno(Errno.EEXIST, () -> m.create("a", O_WRONLY | O_EXCL));
        m.close(m.create("a", O_WRONLY));
        assertThat(m.stored("a")).isEqualTo("1");
    }

    /** The kernel checks no permission for an open of a file that it believed absent. */
    @Test
    void create_existsWithoutExcl_isEstaleAndOpensNothing() throws Exception {
        assertErrno(Errno.ENOENT, () -> m.lookup("a"));
        m.bucket.put("a", "1");
        m.clock.advance(Mounted.TTL);
        int before = m.fs.inodesInUse();

        assertErrno(
                Errno.ESTALE,
                () -> m.fs.create(FileSystem.ROOT, "a", 0644, Mounted.CREATOR, O_RDWR | O_TRUNC | O_CREAT));

        m.drain();
        assertThat(m.stored("a")).isEqualTo("1");
        assertThat(m.fs.inodesInUse()).isEqualTo(before);
    }

    @Test
    void create_exclAndSomebodyElseWasFaster_isEstaleOnClose() throws Exception {
        OpenFile file = m.create("a", O_WRONLY | O_EXCL);
        m.write(file, 0, "mine");
        m.bucket.put("a", "theirs");

        assertErrno(Errno.ESTALE, () -> m.close(file));

        m.drain();
        assertThat(m.stored("a")).isEqualTo("theirs");
        assertThat(m.cat("a")).isEqualTo("theirs");
    }

    /** A lock file is empty, and workers write equal results. */
    @ParameterizedTest
    @ValueSource(strings = {"", "the same"})
    void create_exclAndSomebodyElseWroteTheSame_isEstaleOnClose(String content) throws Exception {
        OpenFile file = m.create("a", O_WRONLY | O_EXCL);
        if (!content.isEmpty()) {
            m.write(file, 0, content);
        }
        m.bucket.put("a", content);

        assertErrno(Errno.ESTALE, () -> m.close(file));
    }

    @Test
    void close_objectReplacedMeanwhile_isEstaleAndTheOtherStays() throws Exception {
        m.bucket.put("a", "before");
        OpenFile file = m.open("a", O_RDWR);
        m.write(file, 0, "mine");
        m.bucket.put("a", "theirs");

        assertErrno(Errno.ESTALE, () -> m.close(file));

        m.drain();
        assertThat(m.cat("a")).isEqualTo("theirs");
    }

    @Test
    void close_storeFails_reportsItOnceAndCommitsBehind() throws Exception {
        OpenFile file = m.create("a", O_WRONLY);
        m.write(file, 0, "1");
        m.faults.next(call -> call instanceof Call.Put, Fault.fail(ObjectStoreException.Unavailable::new));

        assertErrno(Errno.EIO, () -> m.close(file));

        m.drain();
        assertThat(m.stored("a")).isEqualTo("1");
    }

    @Test
    void close_oneOfTwoWriters_onlyTheLastCommits() throws Exception {
        OpenFile first = m.create("a", O_WRONLY);
        OpenFile second = m.open("a", O_WRONLY);
        m.write(first, 0, "1");
        m.write(second, 1, "2");

        m.fs.flush(first.handle());
        assertThat(m.stored("a")).isNull();
        // The first is not released yet, as after close(2) has returned.
        m.fs.flush(second.handle());

        assertThat(m.stored("a")).isEqualTo("12");
        m.fs.release(first.handle());
        m.fs.release(second.handle());
    }

    @Test
    void close_ofADuplicateBeforeAnyWrite_commitsTheEmptyFile() throws Exception {
        OpenFile file = m.create("a", O_WRONLY);

        m.fs.flush(file.handle());
        assertThat(m.stored("a")).isEmpty();
        m.write(file, 0, "1");
        m.fs.flush(file.handle());
        assertThat(m.stored("a")).isEqualTo("1");
        m.write(file, 1, "2");
        m.close(file);

        assertThat(m.stored("a")).isEqualTo("12");
    }

    /** Like NumPy's tofile, for each array of a large file. */
    @Test
    void close_ofADuplicateOfALargeFile_commitsNothingUntilTheLast() throws Exception {
        OpenFile file = m.create("a", O_WRONLY);
        m.write(file, 0, "x".repeat(1 << 20));

        m.fs.flush(file.handle(), () -> true);
        assertThat(m.stored("a")).isNull();
        m.write(file, 1 << 20, "y");
        m.fs.flush(file.handle(), () -> false);

        assertThat(m.stored("a")).hasSize((1 << 20) + 1).endsWith("xy");
        m.fs.release(file.handle());
    }

    /** The kernel releases a handle some time after its close. */
    @Test
    void close_ofTheLastOfTwoHandlesOfOneProcess_commits() throws Exception {
        OpenFile first = m.create("a", O_WRONLY);
        OpenFile second = m.open("a", O_WRONLY);
        m.write(first, 0, "x".repeat(1 << 20));

        m.fs.flush(first.handle(), () -> true);
        assertThat(m.stored("a")).isNull();
        m.fs.flush(second.handle(), () -> false);

        assertThat(m.stored("a")).hasSize(1 << 20);
        m.fs.release(first.handle());
        m.fs.release(second.handle());
    }

    /** A shell loop with redirected output closes one for each program that it runs. */
    @Test
    void close_ofDuplicatesAgain_commitsNothingUntilTheLast() throws Exception {
        OpenFile file = m.create("a", O_WRONLY);

        m.fs.flush(file.handle(), () -> true);
        assertThat(m.stored("a")).as("small, and open still").isNull();
        m.write(file, 0, "1");
        m.fs.flush(file.handle(), () -> true);
        assertThat(m.stored("a")).isNull();
        m.write(file, 1, "2");
        m.close(file);

        assertThat(m.stored("a")).isEqualTo("12");
    }

    /** The file seemed to be still open, but was not: nothing is lost. */
    @Test
    void close_takenForADuplicates_isCommittedBehind() throws Exception {
        OpenFile file = m.create("a", O_WRONLY);
        m.write(file, 0, "x".repeat(1 << 20));

        m.fs.flush(file.handle(), () -> true);
        m.fs.release(file.handle());
        m.drain();

        assertThat(m.stored("a")).hasSize(1 << 20);
    }

    @Test
    void release_writtenAfterTheLastFlush_isCommittedBehind() throws Exception {
        OpenFile file = m.create("a", O_RDWR);
        m.write(file, 0, "1");
        m.fs.flush(file.handle());
        m.fs.write(file.handle(), 0, ByteBuffer.wrap(new byte[] {'2'}), 0, true, true);
        OpenFile reader = m.open("a");

        m.fs.release(file.handle());
        m.drain();
        m.fs.close();

        assertThat(m.stored("a")).isEqualTo("2");
        assertErrno(Errno.EBADF, () -> m.read(reader));
    }

    // ---- without waiting

    private int writeNow(OpenFile file, String text, boolean pages) throws Exception {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        return m.fs.write(file.handle(), 0, bytes, m.flags(file), pages, false);
    }

    @Test
    void writeNow_memoryIsThere_isWritten() throws Exception {
        OpenFile file = m.create("a", O_RDWR);
        m.clock.advance(java.time.Duration.ofSeconds(100));

        assertThat(writeNow(file, "hello", false)).isEqualTo(5);

        assertThat(m.read(file)).isEqualTo("hello");
        assertThat(m.lookup("a").modified()).isEqualTo(m.clock.instant());
        m.close(file);
        assertThat(m.stored("a")).isEqualTo("hello");
    }

    @Test
    void writeNow_toBeAppendedOrSynced_wouldWait() throws Exception {
        m.bucket.put("a", "before");
        OpenFile appending = m.open("a", O_WRONLY | O_APPEND);
        OpenFile syncing = m.open("a", O_WRONLY | O_SYNC);

        assertThat(writeNow(appending, "1", false)).isEqualTo(NoWait.WOULD_WAIT);
        assertThat(writeNow(syncing, "1", false)).isEqualTo(NoWait.WOULD_WAIT);
        assertThat(m.cat("a")).isEqualTo("before");
        assertThat(writeNow(appending, "B", true)).isOne();

        assertThat(m.cat("a")).isEqualTo("Before");
        m.close(appending);
        m.close(syncing);
    }

    @Test
    void writeNow_notForThisHandle_isEbadf() throws Exception {
        m.bucket.put("a", "before");
        OpenFile file = m.open("a");
        assertErrno(Errno.EBADF, () -> writeNow(file, "1", false));
        m.close(file);
    }

    // ---- open flags

    @Test
    void open_toWrite_changesInPlace() throws Exception {
        m.bucket.put("a", "12345");
        OpenFile file = m.open("a", O_RDWR);
        m.write(file, 1, "xy");

        assertThat(m.read(file)).isEqualTo("1xy45");
        m.close(file);
        assertThat(m.stored("a")).isEqualTo("1xy45");
    }

    @Test
    void open_toWriteAndNothingWritten_sendsNothing() throws Exception {
        m.bucket.put("a", "1");
        OpenFile file = m.open("a", O_RDWR);
        m.drainCalls();

        m.close(file);

        assertThat(m.drainCalls()).isEmpty();
    }

    @Test
    void open_truncating_startsEmpty() throws Exception {
        m.bucket.put("a", "12345");
        OpenFile file = m.open("a", O_WRONLY | O_TRUNC);

        assertThat(m.lookup("a").size()).isZero();
        m.write(file, 0, "x");
        m.close(file);

        assertThat(m.stored("a")).isEqualTo("x");
    }

    @Test
    void open_truncatingWhatIsWritten_cutsItForAll() throws Exception {
        OpenFile first = m.create("a", O_RDWR);
        m.write(first, 0, "12345");
        OpenFile second = m.open("a", O_WRONLY | O_TRUNC);

        assertThat(m.read(first)).isEmpty();
        m.close(second);
        m.close(first);
        m.drain();
        assertThat(m.stored("a")).isEmpty();
    }

    @Test
    void write_appendingFromTwoHandles_losesNothing() throws Exception {
        m.bucket.put("a", "0");
        OpenFile first = m.open("a", O_WRONLY | O_APPEND);
        OpenFile second = m.open("a", O_WRONLY | O_APPEND);

        m.write(first, 1, "1");
        m.write(second, 1, "2");
        m.write(first, 1, "3");
        m.close(first);
        m.close(second);

        assertThat(m.stored("a")).isEqualTo("0123");
    }

    @Test
    void write_appendSetAndClearedWhileOpen_followsTheWritesFlags() throws Exception {
        m.bucket.put("a", "0123456789");
        OpenFile file = m.open("a", O_RDWR | O_APPEND);
        m.setFlags(file, O_RDWR);
        m.write(file, 1, "X");
        m.setFlags(file, O_RDWR | O_APPEND);
        m.write(file, 1, "Y");
        m.close(file);

        assertThat(m.stored("a")).isEqualTo("0X23456789Y");
    }

    @Test
    void write_synchronous_isDurableAtOnce() throws Exception {
        OpenFile file = m.create("a", O_WRONLY | O_SYNC);

        m.write(file, 0, "1");

        m.fs.fsync(file.handle());
        m.close(file);
        assertThat(m.stored("a")).isEqualTo("1");
    }

    @Test
    void write_openToRead_isEbadf() throws Exception {
        m.bucket.put("a", "1");
        OpenFile file = m.open("a");

        assertThat(List.<ThrowingCallable>of(
                        () -> m.write(file, 0, "x"),
                        () -> m.truncate("a", file, 0),
                        () -> m.fs.fallocate(file.handle(), 0, 0, 1),
                        () -> m.fs.copyFileRange(file.handle(), 0, file.handle(), 0, 1)))
                .allSatisfy(call -> assertErrno(Errno.EBADF, call));
        m.close(file);
    }

    @Test
    void write_beyondTheLargestObject_isEfbig() throws Exception {
        OpenFile file = m.create("a", O_RDWR);

        assertThat(List.<ThrowingCallable>of(
                        () -> m.write(file, Mounted.LARGEST_OBJECT, "x"),
                        () -> m.truncate("a", file, Mounted.LARGEST_OBJECT + 1),
                        () -> m.fs.fallocate(file.handle(), 0, Long.MAX_VALUE, 1)))
                .allSatisfy(call -> assertErrno(Errno.EFBIG, call));
        assertThat(m.lookup("a").size()).isZero();
        m.fs.release(file.handle());
    }

    // ---- other handles

    @Test
    void read_openedBeforeItWasWritten_seesWhatIsWritten() throws Exception {
        m.bucket.put("a", "before");
        OpenFile reader = m.open("a");
        assertThat(m.read(reader)).isEqualTo("before");

        OpenFile writer = m.open("a", O_RDWR);
        m.write(writer, 0, "after!");

        assertThat(m.read(reader)).isEqualTo("after!");
        m.close(writer);
        assertThat(m.read(reader)).isEqualTo("after!");
        m.close(reader);
    }

    @Test
    void open_afterACommitElsewhere_seesThat() throws Exception {
        m.save("a", "mine");
        OpenFile reader = m.open("a");
        m.bucket.put("a", "theirs");
        m.clock.advance(Mounted.TTL);

        assertThat(m.cat("a")).isEqualTo("theirs");
        OpenFile writer = m.open("a", O_RDWR);
        m.write(writer, 0, "T");
        m.close(writer);

        assertThat(m.stored("a")).isEqualTo("Theirs");
        m.close(reader);
    }

    @Test
    void open_afterOwnCommit_keepsTheKernelsPages() throws Exception {
        OpenFile file = m.create("a", O_RDWR);
        m.write(file, 0, "1");
        m.read(file);
        OpenFile second = m.open("a");
        assertThat(second.pageCache()).isEqualTo(KEEP);
        m.close(second);
        m.close(file);

        OpenFile again = m.open("a");
        assertThat(again.pageCache()).isEqualTo(KEEP);
        m.close(again);
    }

    @Test
    void open_afterAConflict_dropsTheKernelsPages() throws Exception {
        m.bucket.put("a", "before");
        OpenFile first = m.open("a", O_RDWR);
        m.write(first, 0, "mine");
        m.bucket.put("a", "theirs");
        assertErrno(Errno.ESTALE, () -> m.close(first));
        m.drain();

        OpenFile again = m.open("a");

        assertThat(again.pageCache()).isNotEqualTo(KEEP);
        m.close(again);
    }

    // ---- size and time

    @Test
    void truncate_byName_isVisibleWhenItReturns() throws Exception {
        m.bucket.put("a", "12345");

        m.truncate("a", null, 2);
        assertThat(m.stored("a")).isEqualTo("12");
        m.truncate("a", null, 4);
        assertThat(m.stored("a")).isEqualTo("12\0\0");
        m.truncate("a", null, 0);
        assertThat(m.stored("a")).isEmpty();
        assertErrno(Errno.EINVAL, () -> m.truncate("a", null, -1));
    }

    /** The kernel would fill the missing bytes of such a read with zeros. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void truncate_readMeanwhile_waits(boolean openToWrite) throws Exception {
        m.bucket.put("a", "12345");
        OpenFile reader = m.open("a");
        OpenFile writer = openToWrite ? m.open("a", O_RDWR) : reader;
        assertThat(m.read(reader)).isEqualTo("12345");
        Gate put = m.delays.hold(Call.Put.class::isInstance);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> truncation = threads.submit(() -> {
                m.truncate("a", null, 2);
                return null;
            });
            while (m.lookup("a").size() != 2) {
                assertThat(truncation.isDone()).isFalse();
            }
            Future<String> read = threads.submit(() -> m.read(reader));
            assertThatThrownBy(() -> read.get(50, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);

            put.open();
            truncation.get();
            assertThat(read.get()).isEqualTo("12");
        }
        m.close(reader);
        if (openToWrite) {
            m.close(writer);
        }
    }

    @Test
    void truncate_byHandle_isCommittedWithIt() throws Exception {
        m.bucket.put("a", "12345");
        OpenFile file = m.open("a", O_RDWR);

        m.truncate("a", file, 3);

        assertThat(m.lookup("a").size()).isEqualTo(3);
        assertThat(m.stored("a")).isEqualTo("12345");
        m.close(file);
        assertThat(m.stored("a")).isEqualTo("123");
    }

    /** A later handle for writing shares the version with the reader, and must not bring its older time back. */
    @Test
    void setattr_timesOfAFileThatIsRead_areShownByItsHandlesToo() throws Exception {
        Instant time = Instant.parse("2001-02-03T04:05:06Z");
        m.bucket.put("a", "1");
        long inode = m.lookup("a").inode();
        OpenFile reader = m.open("a");
        m.clock.advance(Duration.ofSeconds(5));

        m.fs.setattr(inode, null, new AttributeChange(null, null, null, null, time, time, null));

        OpenFile writer = m.open("a", O_WRONLY);
        assertThat(m.lookup("a").modified()).isEqualTo(time);
        assertThat(m.lookup("a").changed()).isEqualTo(m.clock.instant());
        m.close(writer);
        m.close(reader);
        assertThat(m.lookup("a").modified()).isEqualTo(time);
    }

    @Test
    void truncate_toTheSameSize_showsItsTimeAlsoOnceItIsClosed() throws Exception {
        m.save("a", "123");
        m.clock.advance(Duration.ofSeconds(5));
        OpenFile file = m.open("a", O_RDWR);
        m.truncate("a", file, 3);
        Instant time = m.clock.instant();
        assertThat(m.lookup("a").modified()).isEqualTo(time);

        m.clock.advance(Duration.ofSeconds(5));
        m.close(file);

        assertThat(m.lookup("a").modified()).isEqualTo(time);
        assertThat(m.lookup("a").changed()).isEqualTo(time);
    }

    @Test
    void setattr_timesOfARemovedFile_doNotChangeItsSuccessor() throws Exception {
        Instant time = Instant.parse("2001-02-03T04:05:06Z");
        m.save("a", "1");
        OpenFile removed = m.open("a");
        long inode = m.fs.inodeOf(removed.handle());
        m.unlink("a");
        OpenFile file = m.create("a", O_WRONLY);
        m.write(file, 0, "2");
        Instant written = m.clock.instant();
        m.clock.advance(Duration.ofSeconds(5)); // the object's time is that of the close
        m.close(file);

        AttributeChange touch = new AttributeChange(null, null, null, null, time, time, null);
        m.fs.setattr(inode, removed.handle(), touch);

        assertThat(m.fs.getattr(inode).modified()).isEqualTo(time);
        assertThat(m.lookup("a").modified()).isEqualTo(written);
        m.fs.release(removed.handle());
    }

    @Test
    void setattr_times_areShownForTheMountsLife() throws Exception {
        Instant time = Instant.parse("2001-02-03T04:05:06Z");
        AttributeChange change = new AttributeChange(0640, 1, 1, null, time, time, null);
        OpenFile file = m.create("a", O_WRONLY);
        m.write(file, 0, "1");
        long inode = m.lookup("a").inode();

        Attributes changed = m.fs.setattr(inode, file.handle(), change);

        assertThat(changed.modified()).isEqualTo(time);
        assertThat(changed.uid()).as("owner and mode stay").isEqualTo(Mounted.UID);
        m.close(file);
        assertThat(m.lookup("a").modified()).isEqualTo(time);
        m.bucket.put("b", "1");
        m.fs.setattr(m.lookup("b").inode(), null, change);
        m.clock.advance(Mounted.TTL);
        assertThat(m.lookup("b").modified()).isEqualTo(time);
        m.rename("b", "c", 0);
        assertThat(m.lookup("c").modified()).isEqualTo(time);
        m.bucket.put("c", "another");
        m.clock.advance(Mounted.TTL);
        assertThat(m.lookup("c").modified()).isNotEqualTo(time);
    }

    @Test
    void setattr_modeThatGivesOthersLess_isEperm() throws Exception {
        m.bucket.put("d/a", "1");
        long file = m.lookup("d/a").inode();
        long directory = m.lookup("d").inode();

        assertErrno(Errno.EPERM, () -> m.fs.setattr(file, null, mode(0600)));
        assertErrno(Errno.EPERM, () -> m.fs.setattr(file, null, mode(0)));
        assertErrno(Errno.EPERM, () -> m.fs.setattr(directory, null, mode(0700)));
    }

    /** Like rsync with its temporary files: it sets the final mode after it has closed them. */
    @Test
    void setattr_stricterModeWhileOpenForWriting_isAccepted() throws Exception {
        OpenFile file = m.create("a", O_WRONLY);
        long inode = m.lookup("a").inode();

        assertThat(m.fs.setattr(inode, null, mode(0600)).mode()).isEqualTo(0100640);
        m.fs.flush(file.handle()); // close(2) returns
        assertErrno(Errno.EPERM, () -> m.fs.setattr(inode, null, mode(0600)));
        m.fs.release(file.handle());
        assertErrno(Errno.EPERM, () -> m.fs.setattr(inode, null, mode(0600)));
    }

    @Test
    void setattr_anyOtherMode_isAcceptedAndNotKept() throws Exception {
        m.bucket.put("d/a", "1");
        long file = m.lookup("d/a").inode();
        long directory = m.lookup("d").inode();

        for (int mode : new int[] {0640, 0644, 0755, 0440, 0777, 0100640}) {
            assertThat(m.fs.setattr(file, null, mode(mode)).mode()).isEqualTo(0100640);
        }
        assertThat(m.fs.setattr(directory, null, mode(0755)).mode()).isEqualTo(0040751);
    }

    private static AttributeChange mode(int mode) {
        return new AttributeChange(mode, null, null, null, null, null, null);
    }

    @Test
    void fallocate_eachMode_isAsOnDisk() throws Exception {
        m.bucket.put("a", "12345");
        OpenFile file = m.open("a", O_RDWR);
        long handle = file.handle();

        m.fs.fallocate(handle, KEEP_SIZE, 0, 100);
        assertThat(m.read(file)).isEqualTo("12345");
        m.fs.fallocate(handle, 0, 0, 7);
        assertThat(m.read(file)).isEqualTo("12345\0\0");
        m.fs.fallocate(handle, PUNCH_HOLE | KEEP_SIZE, 1, 2);
        assertThat(m.read(file)).isEqualTo("1\0\00045\0\0");
        m.fs.fallocate(handle, ZERO_RANGE | KEEP_SIZE, 4, 100);
        assertThat(m.read(file)).isEqualTo("1\0\0004\0\0\0");
        m.fs.fallocate(handle, ZERO_RANGE, 6, 2);
        assertThat(m.read(file)).isEqualTo("1\0\0004\0\0\0\0");
        assertErrno(Errno.EOPNOTSUPP, () -> m.fs.fallocate(handle, PUNCH_HOLE, 0, 1));
        assertErrno(Errno.EOPNOTSUPP, () -> m.fs.fallocate(handle, 0x20, 0, 1));
        assertErrno(Errno.EINVAL, () -> m.fs.fallocate(handle, 0, 0, 0));
        m.close(file);
        assertThat(m.stored("a")).isEqualTo("1\0\0004\0\0\0\0");
    }

    @Test
    void lseek_inASparseFile_findsDataAndHoles() throws Exception {
        OpenFile file = m.create("a", O_RDWR);
        m.truncate("a", file, 64 << 20);
        m.write(file, 32 << 20, "x");

        long data = m.fs.lseek(file.handle(), 0, SEEK_DATA);
        assertThat(data).isBetween(1L, 32L << 20);
        assertThat(m.fs.lseek(file.handle(), 0, SEEK_HOLE)).isZero();
        assertThat(m.fs.lseek(file.handle(), 32 << 20, SEEK_HOLE)).isBetween((32L << 20) + 1, (64L << 20) - 1);
        assertErrno(Errno.ENXIO, () -> m.fs.lseek(file.handle(), 64 << 20, SEEK_HOLE));
        m.truncate("a", file, 0);
        m.close(file);
    }

    @Test
    void copyFileRange_betweenFiles_copiesWhatThereIs() throws Exception {
        m.bucket.put("a", "0123456789");
        OpenFile from = m.open("a", O_RDWR);
        OpenFile to = m.create("b", O_RDWR);

        assertThat(m.fs.copyFileRange(from.handle(), 2, to.handle(), 1, 3)).isEqualTo(3);
        assertThat(m.read(to)).isEqualTo("\000234");
        m.write(from, 9, "x");
        assertThat(m.fs.copyFileRange(from.handle(), 8, to.handle(), 4, 100)).isEqualTo(2);
        assertThat(m.read(to)).isEqualTo("\0002348x");
        assertThat(m.fs.copyFileRange(from.handle(), 10, to.handle(), 0, 1)).isZero();
        assertErrno(Errno.EINVAL, () -> m.fs.copyFileRange(from.handle(), 0, from.handle(), 1, 5));
        m.close(from);
        m.close(to);
        assertThat(m.stored("b")).isEqualTo("\0002348x");
    }

    @Test
    void copyFileRange_ofAWholeFile_isDoneByTheStore() throws Exception {
        byte[] bytes = new TestData("x", 20 << 20, 0).bytes();
        m.bucket.put("a", bytes);
        OpenFile from = m.open("a");
        OpenFile to = m.create("b", O_RDWR);

        assertThat(m.fs.copyFileRange(from.handle(), 0, to.handle(), 0, Long.MAX_VALUE / 2))
                .isEqualTo(bytes.length);

        assertThat(m.bytes("b")).as("before it is closed").isEqualTo(bytes);
        m.close(to);
        m.close(from);
        assertThat(m.store.uploadedBytes()).isZero();
        assertThat(m.store.gets()).isEmpty();
        assertThat(m.lookup("b").size()).isEqualTo(bytes.length);
    }

    @Test
    void copyFileRange_removedWrittenFile_copiesItsContent() throws Exception {
        m.bucket.put("a", "old");
        OpenFile from = m.open("a", O_RDWR);
        m.write(from, 0, "new");
        m.unlink("a");
        OpenFile to = m.create("b", O_RDWR);

        assertThat(m.fs.copyFileRange(from.handle(), 0, to.handle(), 0, 3)).isEqualTo(3);

        m.close(to);
        assertThat(m.stored("b")).isEqualTo("new");
        m.close(from);
    }

    @Test
    void copyFileRange_sourceReplaced_isEstaleAndCopiesNothing() throws Exception {
        m.bucket.put("a", "old");
        OpenFile from = m.open("a");
        m.bucket.put("a", "newer");
        OpenFile to = m.create("b", O_RDWR);

        assertErrno(Errno.ESTALE, () -> m.fs.copyFileRange(from.handle(), 0, to.handle(), 0, 3));

        assertThat(m.read(to)).isEmpty();
        m.close(to);
        m.close(from);
    }

    // ---- unsupported calls

    @Test
    void anyChange_thatABucketCannotHold_isRefused() throws Exception {
        m.bucket.put("a", "1");
        long a = m.lookup("a").inode();
        long root = FileSystem.ROOT;

        assertErrno(Errno.EPERM, () -> m.fs.symlink("a", root, "b", Mounted.CREATOR));
        assertErrno(Errno.EPERM, () -> m.fs.mknod(root, "b", 0010644, 0, Mounted.CREATOR));
        assertErrno(Errno.EOPNOTSUPP, () -> m.fs.setxattr(a, "user.x", new byte[0], 0));
        assertErrno(Errno.EOPNOTSUPP, () -> m.fs.removexattr(a, "user.x"));
        m.fs.access(a, 2, Mounted.UID, Mounted.GID);
        assertErrno(Errno.EACCES, () -> m.fs.access(a, 2, Mounted.UID + 1, Mounted.GID));
    }
}
