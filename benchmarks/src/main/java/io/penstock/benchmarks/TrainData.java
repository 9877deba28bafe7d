package io.penstock.benchmarks;

import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * The data set of a model, scaled down in the number of files: the samples have their real sizes.
 *
 * @param files the number of files
 */
record TrainData(TrainModel model, int files) {
    private static final int SEED = 10;

    /** A normal distribution extends below zero; a file has at least a zip's directory. */
    private static final long LEAST_SAMPLE = 4096;

    TrainData {
        if (files < 1) {
            throw new IllegalArgumentException("there must be a file");
        }
    }

    /** The folder of the files, below the folder of all data sets; as DLIO expects it. */
    String folder() {
        return model.name().toLowerCase(Locale.ROOT) + "/train/";
    }

    boolean isOne(String name) {
        return name.endsWith("." + model.access().extension());
    }

    /** The files as generated; a larger data set begins with the files of a smaller one. */
    List<TrainFile> generated() {
        return IntStream.range(0, files)
                .mapToObj(index -> new TrainFile(
                        String.format(
                                Locale.ROOT, "%07d.%s", index, model.access().extension()),
                        size(index)))
                .toList();
    }

    private long size(int index) {
        TrainModel.Samples samples = model.samples();
        if (samples.deviation() == 0) {
            return samples.perFile() * samples.bytes();
        }
        double deviates = new SplittableRandom(SEED * 1_000_003L + index).nextGaussian();
        long sample = Math.round(samples.bytes() + deviates * samples.deviation());
        return samples.perFile() * Math.max(sample, LEAST_SAMPLE);
    }

    /** Of the files as generated. */
    long totalBytes() {
        return generated().stream().mapToLong(TrainFile::size).sum();
    }
}
