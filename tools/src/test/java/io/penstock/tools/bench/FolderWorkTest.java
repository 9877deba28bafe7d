package io.penstock.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.settings.process.RefusedException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class FolderWorkTest {
    private static final int MIB = 1 << 20;
    private static final Workload WORKLOAD = new Workload(3 * MIB, 5, MIB + 10, 2, Duration.ofDays(1));

    @TempDir
    private Path parent;

    private FolderWork work(Workload workload, FolderWork.Kept kept) throws RefusedException {
        return new FolderWork(parent, workload, new BenchData(1), kept);
    }

    @ParameterizedTest
    @EnumSource
    void all_isWrittenReadAndRemoved(FolderWork.Kept kept) throws Exception {
        FolderWork work = work(WORKLOAD, kept);

        assertThat(work.writeLarge().bytes()).isEqualTo(3 * MIB);
        assertThat(work.writeSmall().operations()).isEqualTo(5);
        assertThat(work.files()).hasSize(6).allMatch(Files::isRegularFile);
        MeasuredFolder.dropPages(work.files());
        assertThat(work.readLarge().bytes()).isEqualTo(3 * MIB);
        assertThat(work.readSmall().operations()).isEqualTo(5);
        assertThat(work.stat().operations()).isPositive();

        work.remove();
        assertThat(parent).isEmptyDirectory();
    }

    @Test
    void write_timeIsOver_laterStepsTakeWhatIsThere() throws Exception {
        FolderWork work = work(new Workload(9 * MIB, 9, 10, 2, Duration.ZERO), FolderWork.Kept.BY_CLOSE);

        assertThat(work.writeLarge().bytes()).isEqualTo(MIB);
        assertThat(work.writeSmall().operations()).isEqualTo(2);
        assertThat(work.readLarge().bytes()).isEqualTo(MIB);
        assertThat(work.readSmall().operations()).isEqualTo(2);
        work.remove();
    }

    @Test
    void readLarge_aByteDiffers_isNamed() throws Exception {
        FolderWork work = work(WORKLOAD, FolderWork.Kept.BY_CLOSE);
        work.writeLarge();
        Path large = work.files().getFirst();
        try (RandomAccessFile file = new RandomAccessFile(large.toFile(), "rw")) {
            file.seek(2 * MIB + 5);
            int there = file.read();
            file.seek(2 * MIB + 5);
            file.write(~there);
        }

        assertThatThrownBy(work::readLarge)
                .isInstanceOf(RefusedException.class)
                .hasMessage(large + ": the bytes read differ from those written, starting at byte " + (2 * MIB + 5));
    }

    @Test
    void readSmall_fileIsShorter_isNamed() throws Exception {
        FolderWork work = work(WORKLOAD, FolderWork.Kept.BY_CLOSE);
        work.writeLarge();
        work.writeSmall();
        Path small = work.files().get(3);
        Files.write(small, new byte[0]);

        assertThatThrownBy(work::readSmall)
                .isInstanceOf(RefusedException.class)
                .hasMessage(small + ": unexpected end of file at byte 0");
        assertThatThrownBy(work::stat)
                .isInstanceOf(RefusedException.class)
                .hasMessage(small + " has 0 bytes, but " + (MIB + 10) + " were written to it");
    }

    @Test
    void writeLarge_interrupted_leavesNoFile() throws Exception {
        FolderWork work = work(new Workload(1L << 40, 1, 1, 1, Duration.ofDays(1)), FolderWork.Kept.BY_CLOSE);
        Thread caller = Thread.currentThread();
        Path large = work.folder().resolve("large");
        Thread.ofVirtual().start(() -> {
            while (!Files.exists(large)) {
                Thread.onSpinWait();
            }
            caller.interrupt();
        });

        assertThatThrownBy(work::writeLarge).isInstanceOf(InterruptedException.class);

        assertThat(work.folder()).isEmptyDirectory();
        work.remove();
    }

    @Test
    void folder_cannotBeMade_saysWhy() {
        Path none = parent.resolve("none");
        assertThatThrownBy(() -> new FolderWork(none, WORKLOAD, new BenchData(1), FolderWork.Kept.BY_CLOSE))
                .isInstanceOf(RefusedException.class)
                .hasMessageStartingWith(none + " cannot be written to: no such file: " + none);
    }

    @Test
    void remove_withAnotherFile_removesItToo() throws Exception {
        FolderWork work = work(WORKLOAD, FolderWork.Kept.BY_CLOSE);
        Files.write(work.folder().resolve("more"), List.of("x"));
        work.remove();
        assertThat(parent).isEmptyDirectory();
    }
}
