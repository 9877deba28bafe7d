package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainWorkloadTest {
    @TempDir
    private Path root;

    @Test
    void of_nameOfAModel_isItsSlowestAccelerator() throws BenchException {
        assertThat(TrainWorkload.of("unet3d")).isEqualTo(TrainWorkload.UNET3D_A100);
        assertThat(TrainWorkload.of("UNET3D_h100")).isEqualTo(TrainWorkload.UNET3D_H100);
    }

    @Test
    void of_unknownName_namesThoseThatAreKnown() {
        assertThatThrownBy(() -> TrainWorkload.of("bert"))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("--workload bert")
                .hasMessageContaining("retinanet_b200");
    }

    @Test
    void configuration_withoutOneOfDlio_overridesItsValues() {
        assertThat(TrainWorkload.UNET3D_A100.configuration()).containsExactly("workload=unet3d_a100");
        assertThat(TrainWorkload.UNET3D_B200.configuration())
                .containsExactly("workload=unet3d_h100", "++workload.train.computation_time=0.162");
    }

    @Test
    void steps_areThoseOfTheSamplesAndOfTheTime() {
        assertThat(TrainWorkload.RESNET50_A100.model().steps(64, 2)).isEqualTo(100);
        assertThat(TrainWorkload.UNET3D_A100.model().steps(84, 12)).isEqualTo(1);
        assertThat(TrainWorkload.UNET3D_A100.steps(10)).isEqualTo(16);
    }

    @Test
    void files_countsThoseOfTheFormat() throws Exception {
        assertThat(Dlio.files(root, TrainWorkload.Model.RETINANET)).isZero();
        Path train = Files.createDirectories(root.resolve("retinanet/train"));
        Files.createFile(train.resolve("img_0_of_2.jpeg"));
        Files.createFile(train.resolve("other"));
        assertThat(Dlio.files(root, TrainWorkload.Model.RETINANET)).isEqualTo(1);
    }

    @Test
    void result_ofASummary_isItsMeans() throws Exception {
        String summary = """
            {"metric": {"train_au_percentage": [91.2], "train_au_mean_percentage": 91.2,
             "train_au_meet_expectation": "success", "train_throughput_mean_samples_per_second": 820.5}}
            """;
        assertThat(Dlio.Result.parse(summary)).isEqualTo(new Dlio.Result(91.2, true, 820.5));
        assertThatThrownBy(() -> Dlio.Result.parse("{}")).isInstanceOf(IOException.class);
    }

    @Test
    void folder_thatHadTheData_keepsIt() throws Exception {
        Path there = Files.createDirectories(root.resolve("unet3d/train"));
        try (TrainPlace.Folder folder = new TrainPlace.Folder(root, OptionalLong.empty(), false)) {
            assertThat(folder.begin(TrainWorkload.Model.UNET3D)).isEqualTo(root);
            folder.end(TrainWorkload.Model.UNET3D);
            Path _ = folder.begin(TrainWorkload.Model.RETINANET);
            Files.createDirectories(root.resolve("retinanet/train"));
        }
        assertThat(there).exists();
        assertThat(root.resolve("retinanet")).doesNotExist();
    }
}
