package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.O_RDWR;
import static io.penstock.filesystem.Mounted.assertErrno;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.Errno;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.objectstore.Call;
import io.penstock.testing.Gate;
import io.penstock.testing.TestData;
import java.nio.ByteBuffer;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reads that wait for a version while it is replaced, or moved to another name. */
@Timeout(60)
class ReadsInFlightTest extends OverWritableMount {
    private static final int MIB = 1 << 20;

    /** The action of the test while a read waits. */
    private interface Meanwhile {
        void run() throws Exception;
    }

    /** Does something while the read's GET of {@code a} is on its way to the store. */
    private <T> FutureTask<T> reading(Callable<T> read, Meanwhile meanwhile) throws Exception {
        FutureTask<T> result = new FutureTask<>(read);
        try (Gate gate = m.delays.hold(call -> call.isGetOf("a"))) {
            Thread.startVirtualThread(result);
            gate.awaitHeld(1);
            meanwhile.run();
        }
        return result;
    }

    @Test
    void read_renamedMeanwhile_isOfTheCopy() throws Exception {
        m.bucket.put("a", "12345");
        OpenFile file = m.open("a");

        FutureTask<String> read = reading(() -> m.read(file), () -> m.rename("a", "b", 0));

        assertThat(read.get()).isEqualTo("12345");
        m.fs.release(file.handle());
    }

    @Test
    void read_overPagesOfWhichOneIsThere_renamedMeanwhile_isOfTheCopy() throws Exception {
        TestData data = TestData.of("a", 6 * MIB);
        m.bucket.put("a", data);
        OpenFile file = m.open("a");
        m.fs.read(file.handle(), 3 * MIB, ByteBuffer.allocate(MIB), null, true);
        ByteBuffer content = ByteBuffer.allocate(2 * MIB);

        FutureTask<Integer> read =
                reading(() -> m.fs.read(file.handle(), 3 * MIB, content, null, true), () -> m.rename("a", "b", 0));

        assertThat(read.get()).isEqualTo(2 * MIB);
        assertThat(content.hasRemaining()).isFalse();
        assertThat(content.flip()).isEqualTo(ByteBuffer.wrap(data.bytes(3 * MIB, 2 * MIB)));
        m.fs.release(file.handle());
    }

    @Test
    void read_openToWriteAndRenamedMeanwhile_isOfTheCopy() throws Exception {
        m.bucket.put("a", "12345");
        OpenFile file = m.open("a", O_RDWR);

        FutureTask<String> read = reading(() -> m.read(file), () -> m.rename("a", "b", 0));

        assertThat(read.get()).isEqualTo("12345");
        m.close(file);
    }

    @Test
    void read_writtenAndRenamedMeanwhile_isWhatWasWritten() throws Exception {
        m.bucket.put("a", "12345");
        OpenFile file = m.open("a", O_RDWR);

        FutureTask<String> read = reading(() -> m.read(file), () -> {
            m.write(file, 0, "abcde");
            m.rename("a", "b", 0);
        });

        assertThat(read.get()).isEqualTo("abcde");
        m.close(file);
    }

    @Test
    void read_openedToWriteAndRenamedMeanwhile_isOfTheCopy() throws Exception {
        m.bucket.put("a", "12345");
        OpenFile reader = m.open("a");
        OpenFile[] writer = new OpenFile[1];

        FutureTask<String> read = reading(() -> m.read(reader), () -> {
            writer[0] = m.open("a", O_RDWR);
            m.rename("a", "b", 0);
        });

        assertThat(read.get()).isEqualTo("12345");
        m.close(writer[0]);
        m.fs.release(reader.handle());
    }

    @Test
    void read_firstCommittedMeanwhile_isWhatWasCommitted() throws Exception {
        m.bucket.put("a", "12345");
        OpenFile reader = m.open("a");

        FutureTask<String> read = reading(() -> m.read(reader), () -> {
            OpenFile writer = m.open("a", O_RDWR);
            m.write(writer, 0, "abcde");
            m.close(writer);
        });

        assertThat(read.get()).isEqualTo("abcde");
        m.fs.release(reader.handle());
    }

    /** The store has the new version, but this mount has not seen it yet. */
    @Test
    void read_whileTheFirstCommitIsAnswered_isWhatIsCommitted() throws Exception {
        m.bucket.put("a", "12345");
        OpenFile reader = m.open("a");
        FutureTask<Void> commit = new FutureTask<>(() -> {
            OpenFile writer = m.open("a", O_RDWR);
            m.write(writer, 0, "abcde");
            m.close(writer);
            return null;
        });

        try (Gate put = m.delays.holdAnswer(Call.Put.class::isInstance)) {
            FutureTask<String> read = reading(() -> m.read(reader), () -> {
                Thread.startVirtualThread(commit);
                put.awaitHeld(1);
            });
            assertThat(read.get()).isEqualTo("abcde");
        }
        commit.get();
        m.fs.release(reader.handle());
    }

    @Test
    void read_renamedAndTheCopyReplacedElsewhere_isEstale() throws Exception {
        m.bucket.put("a", "12345");
        OpenFile file = m.open("a");

        FutureTask<Void> read = reading(
                () -> {
                    assertErrno(Errno.ESTALE, () -> m.read(file));
                    return null;
                },
                () -> {
                    m.rename("a", "b", 0);
                    m.bucket.put("b", "theirs");
                });

        read.get();
        assertThat(m.cat("b")).isEqualTo("theirs");
        m.fs.release(file.handle());
    }

    @Test
    void read_replacedBySomebodyElseMeanwhile_isEstale() throws Exception {
        m.bucket.put("a", "12345");
        OpenFile file = m.open("a");
        OpenFile writer = m.open("a", O_RDWR);

        FutureTask<Void> read = reading(
                () -> {
                    assertErrno(Errno.ESTALE, () -> m.read(file));
                    return null;
                },
                () -> m.bucket.put("a", "theirs"));

        read.get();
        m.close(writer);
        m.fs.release(file.handle());
    }
}
