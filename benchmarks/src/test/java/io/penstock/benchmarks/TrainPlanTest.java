package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TrainPlanTest {
    @Test
    void excludedBy_isTwiceWhatALoaderReadsAhead() {
        assertThat(TrainPlan.excludedBy(TrainModel.UNET3D)).isEqualTo(8);
        assertThat(TrainPlan.excludedBy(TrainModel.RETINANET)).isEqualTo(16);
        // Two batches, the one being made, and part of one in the files.
        assertThat(TrainPlan.excludedBy(TrainModel.RESNET50)).isEqualTo(8);
    }

    @Test
    void of_takesAsManyStepsAsFillTheTime() {
        TrainPlan plan = TrainPlan.of(TrainWorkload.RETINANET_B200, 8000, 1, 16, 6);
        assertThat(plan).isEqualTo(new TrainPlan(16, 127));
        assertThat(plan.samples(TrainModel.RETINANET)).isEqualTo(143 * 24);
    }

    @Test
    void of_fewFiles_takesNoMoreThanThereAre() {
        TrainPlan plan = TrainPlan.of(TrainWorkload.RETINANET_B200, 8000, 8, 16, 6);
        assertThat(plan.steps()).isEqualTo(8000 / 8 / 24);
    }

    @ParameterizedTest
    @EnumSource
    void of_mostAccelerators_hasStepsThatCount(TrainWorkload workload) {
        int files = workload.model().defaultFiles();
        int excluded = TrainPlan.excludedBy(workload.model());
        int most = TrainPlan.mostAccelerators(workload.model(), files, excluded);
        assertThat(most).isPositive();
        assertThat(TrainPlan.of(workload, files, most, excluded, 6).counted())
                .isGreaterThanOrEqualTo(workload.model().batchesAhead());
    }

    @Test
    void mostAccelerators_ofTooFewFiles_isZero() {
        assertThat(TrainPlan.mostAccelerators(TrainModel.UNET3D, 12 * 7 - 1, 8)).isZero();
        assertThat(TrainPlan.mostAccelerators(TrainModel.UNET3D, 12 * 7, 8)).isOne();
        assertThat(TrainPlan.mostAccelerators(TrainModel.UNET3D, 2 * 12 * 7, 8)).isEqualTo(2);
    }
}
