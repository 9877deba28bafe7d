package io.penstock.benchmarks;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Training on one kind of accelerator, named as in MLPerf Storage (mlcommons/storage, configs/dlio/workload/NAME.yaml).
 * DLIO contains the configurations for A100 and H100; the others are one of these with other values.
 */
enum TrainWorkload {
    UNET3D_A100(Model.UNET3D, 636_000, "unet3d_a100"),
    UNET3D_H100(Model.UNET3D, 323_000, "unet3d_h100"),
    UNET3D_B200(Model.UNET3D, 162_000, "unet3d_h100", "train.computation_time=0.162"),
    RESNET50_A100(Model.RESNET50, 435_000, "resnet50_a100"),
    RESNET50_H100(Model.RESNET50, 224_000, "resnet50_h100"),
    COSMOFLOW_A100(Model.COSMOFLOW, 5_510, "cosmoflow_a100"),
    COSMOFLOW_H100(Model.COSMOFLOW, 3_500, "cosmoflow_h100"),
    RETINANET_B200(
            Model.RETINANET,
            47_550,
            "unet3d_h100",
            "model=retinanet",
            "dataset.format=jpeg",
            "dataset.record_length=322957",
            "dataset.record_length_stdev=0",
            "reader.batch_size=24",
            "reader.read_threads=8",
            "train.computation_time=0.04755",
            "metric.au=0.85");

    private final Model model;
    private final long stepMicros;

    @SuppressWarnings("ImmutableEnumChecker") // made by toList
    private final List<String> configuration;

    /** A data set, and the batches that are made of it. */
    enum Model {
        UNET3D("npz", 1, 146_600_628, 7, 84),
        RESNET50("tfrecord", 1251, 114_660, 400, 64),
        COSMOFLOW("tfrecord", 1, 2_828_486, 1, 2000),
        RETINANET("jpeg", 1, 322_957, 24, 8000);

        private final String format;
        private final int samplesPerFile;
        private final long sampleBytes;
        private final int batch;
        private final int files;

        /** @param files the default of {@code --files} */
        Model(String format, int samplesPerFile, long sampleBytes, int batch, int files) {
            this.format = format;
            this.samplesPerFile = samplesPerFile;
            this.sampleBytes = sampleBytes;
            this.batch = batch;
            this.files = files;
        }

        /** The name of its folder. */
        String label() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** How its files end. */
        String format() {
            return format;
        }

        int defaultFiles() {
            return files;
        }

        /** In the mean; sizes of samples vary. */
        long fileBytes() {
            return samplesPerFile * sampleBytes;
        }

        double sampleMib() {
            return sampleBytes / (double) (1 << 20);
        }

        /** The samples that one accelerator takes in so many steps. */
        long samples(int steps) {
            return (long) steps * batch;
        }

        /** The steps of one accelerator for which so many files have samples. */
        int steps(int fileCount, int accelerators) {
            return Math.toIntExact((long) samplesPerFile * fileCount / batch / accelerators);
        }
    }

    /**
     * @param base a configuration of DLIO's
     * @param values those that differ
     */
    TrainWorkload(Model model, long stepMicros, String base, String... values) {
        this.model = model;
        this.stepMicros = stepMicros;
        this.configuration = Stream.concat(
                        Stream.of("workload=" + base), Arrays.stream(values).map("++workload."::concat))
                .toList();
    }

    Model model() {
        return model;
    }

    /** Arguments of DLIO. */
    List<String> configuration() {
        return configuration;
    }

    /** The steps in which an accelerator computes for this long. */
    int steps(int seconds) {
        return Math.toIntExact(Math.ceilDiv(seconds * 1_000_000L, stepMicros));
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
}
