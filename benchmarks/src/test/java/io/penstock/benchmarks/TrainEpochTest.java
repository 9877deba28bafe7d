package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Only the last step counts. If more did and took too long, as on a busy machine, the epoch would end early. */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class TrainEpochTest {
    @TempDir
    private Path folder;

    private List<Path> files(int count, int size) throws IOException {
        List<Path> files = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            files.add(Files.write(folder.resolve("f" + i), new byte[size]));
        }
        return files;
    }

    @Test
    void read_ofEachFormat_readsTheWholeFile() throws IOException {
        for (int size : new int[] {5_000, 70_000, 1 << 20}) {
            Path file = files(1, size).getFirst();
            for (TrainAccess access : TrainAccess.values()) {
                assertThat(access.read(file, ByteBuffer.allocateDirect(TrainAccess.BUFFER)))
                        .isEqualTo(size);
            }
        }
    }

    @Test
    void run_ofWholeFiles_takesTheBatchesOfThePlan() throws Exception {
        int steps = 3;
        List<Path> files = files(2 * steps * 24 + 5, 5_000);
        TrainRun run = new TrainEpoch(TrainWorkload.RETINANET_B200, new TrainPlan(steps - 1, 1))
                .run(files, 0, 2, OptionalLong.empty());
        assertThat(run.samples()).isEqualTo(2L * steps * 24);
        assertThat(run.bytes()).isEqualTo(2L * steps * 24 * 5_000);
        assertThat(run.utilisation().steps()).isEqualTo(1);
    }

    @Test
    void run_ofRecords_repeatsTheFiles() throws Exception {
        TrainRun run = new TrainEpoch(TrainWorkload.COSMOFLOW_A100, new TrainPlan(24, 1))
                .run(files(3, 5_000), 0, 2, OptionalLong.empty());
        assertThat(run.samples()).isEqualTo(2 * 25);
        assertThat(run.bytes()).isGreaterThanOrEqualTo(2 * 25 * 5_000L);
    }

    @Test
    void run_whereAFileIsMissing_fails() throws Exception {
        List<Path> files = new ArrayList<>(files(60, 5_000));
        Files.delete(files.get(7));
        for (TrainWorkload workload : List.of(TrainWorkload.RETINANET_B200, TrainWorkload.COSMOFLOW_A100)) {
            assertThatThrownBy(() -> new TrainEpoch(workload, new TrainPlan(60 / 2 - 1, 1))
                            .run(files, 0, 2, OptionalLong.empty()))
                    .hasMessageContaining("f7");
        }
    }
}
