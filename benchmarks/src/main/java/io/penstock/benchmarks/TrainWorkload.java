package io.penstock.benchmarks;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Training on one kind of accelerator; named as in MLPerf Storage's configurations (mlcommons/storage,
 * configs/dlio/workload/NAME.yaml). Their computation_time is the time of a step.
 */
enum TrainWorkload {
    UNET3D_A100(TrainModel.UNET3D, 636_000),
    UNET3D_H100(TrainModel.UNET3D, 323_000),
    UNET3D_B200(TrainModel.UNET3D, 162_000),
    RESNET50_A100(TrainModel.RESNET50, 435_000),
    RESNET50_H100(TrainModel.RESNET50, 224_000),
    COSMOFLOW_A100(TrainModel.COSMOFLOW, 5_510),
    COSMOFLOW_H100(TrainModel.COSMOFLOW, 3_500),
    RETINANET_B200(TrainModel.RETINANET, 47_550);

    private final TrainModel model;
    private final long stepMicros;

    TrainWorkload(TrainModel model, long stepMicros) {
        this.model = model;
        this.stepMicros = stepMicros;
    }

    TrainModel model() {
        return model;
    }

    /** Nanoseconds of computing per batch. */
    long stepNanos() {
        return stepMicros * 1000;
    }

    /** The name in MLPerf's spelling. */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * @param name of a workload, or of a model: then its first workload, that of the slowest accelerator
     * @throws BenchException if there is none of that name
     */
    static TrainWorkload of(String name) throws BenchException {
        String wanted = name.strip().toUpperCase(Locale.ROOT);
        return Arrays.stream(values())
                .filter(workload -> workload.name().equals(wanted)
                        || workload.model().name().equals(wanted))
                .findFirst()
                .orElseThrow(() -> new BenchException("--workload " + name + ": must be one of "
                        + Arrays.stream(values()).map(TrainWorkload::label).collect(Collectors.joining(", "))
                        + ", or a name without its accelerator"));
    }

    /** One per model, with its slowest accelerator. */
    static List<TrainWorkload> defaults() {
        return List.of(UNET3D_A100, RESNET50_A100, COSMOFLOW_A100, RETINANET_B200);
    }
}
