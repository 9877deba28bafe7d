package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class TrainWorkloadTest {
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
    void generatedFiles_haveTheTrueSizes() {
        TrainData resnet = new TrainData(TrainModel.RESNET50, 2);
        assertThat(resnet.generated())
                .containsExactly(
                        new TrainFile("0000000.tfrecord", 1251L * 114_660),
                        new TrainFile("0000001.tfrecord", 1251L * 114_660));
        assertThat(resnet.folder()).isEqualTo("resnet50/train/");
        TrainData unet = new TrainData(TrainModel.UNET3D, 4000);
        assertThat(unet.totalBytes() / 4000.0).isCloseTo(146_600_628, within(4e6));
        assertThat(new TrainData(TrainModel.UNET3D, 3).generated())
                .isEqualTo(unet.generated().subList(0, 3));
    }

    @Test
    void checkpoint_isThatOf8BillionParameters() {
        // 105 GB in MLPerf's table, which are GiB: 14 bytes for each of 8.03 billion parameters.
        assertThat(TrainCheckpoints.PARAMETERS).isEqualTo(8_030_261_248L);
        assertThat(TrainCheckpoints.size(1) / (double) (1 << 30)).isCloseTo(104.7, within(0.1));
    }
}
