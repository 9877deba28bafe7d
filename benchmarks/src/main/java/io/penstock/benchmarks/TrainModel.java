package io.penstock.benchmarks;

/**
 * What the training programs of MLPerf Storage read, according to its configurations (mlcommons/storage,
 * configs/dlio/workload). Accelerators differ only in the time of a step, see {@link TrainWorkload}.
 */
enum TrainModel {
    /** unet3d_a100.yaml, unet3d_h100.yaml, unet3d_b200.yaml: AU 90 %. */
    UNET3D(TrainAccess.NPZ, new Samples(1, 146_600_628, 68_341_808), new Loading(7, 4, Order.SHUFFLED, 0), 90, 84),

    /** resnet50_a100.yaml, resnet50_h100.yaml: AU 90 %; neither files nor samples are shuffled. */
    RESNET50(TrainAccess.TFRECORD, new Samples(1251, 114_660, 0), new Loading(400, 8, Order.SORTED, 0), 90, 64),

    /** cosmoflow_a100.yaml, cosmoflow_h100.yaml: AU 70 %, shuffle_size 2. */
    COSMOFLOW(TrainAccess.TFRECORD, new Samples(1, 2_828_486, 71_311), new Loading(1, 4, Order.SHUFFLED, 2), 70, 2000),

    /** retinanet_b200.yaml: AU 85 %. */
    RETINANET(TrainAccess.JPEG, new Samples(1, 322_957, 0), new Loading(24, 8, Order.SHUFFLED, 0), 85, 8000);

    /** Batches that tf.data keeps ready: prefetch_size, which no configuration changes (DLIO, utils/config.py). */
    static final int PREFETCHED_BATCHES = 2;

    /**
     * Records that tf.data reads ahead in each of its files: kDefaultPerIteratorPrefetchFactor plus one (TensorFlow,
     * kernels/data/parallel_interleave_dataset_op.cc).
     */
    static final int PREFETCHED_RECORDS = 3;

    private final TrainAccess access;

    @SuppressWarnings("ImmutableEnumChecker") // A record of numbers is immutable.
    private final Samples samples;

    @SuppressWarnings("ImmutableEnumChecker") // Likewise.
    private final Loading loading;

    private final int requiredPercent;
    private final int files;

    /** @param files the default of {@code --files} */
    TrainModel(TrainAccess access, Samples samples, Loading loading, int requiredPercent, int files) {
        this.access = access;
        this.samples = samples;
        this.loading = loading;
        this.requiredPercent = requiredPercent;
        this.files = files;
    }

    /**
     * The data set.
     *
     * @param perFile num_samples_per_file
     * @param bytes record_length_bytes: bytes per sample
     * @param deviation record_length_bytes_stdev
     */
    record Samples(int perFile, long bytes, long deviation) {}

    /**
     * One accelerator's loader.
     *
     * @param batch batch_size
     * @param readers read_threads: processes of PyTorch's DataLoader, or files that tf.data reads concurrently
     * @param order of the files
     * @param shuffleBuffer shuffle_size: samples from which tf.data draws the next one
     */
    record Loading(int batch, int readers, Order order, int shuffleBuffer) {}

    enum Order {
        SORTED,

        /** A different order in each epoch, derived from a seed. */
        SHUFFLED
    }

    TrainAccess access() {
        return access;
    }

    Samples samples() {
        return samples;
    }

    Loading loading() {
        return loading;
    }

    /** The accelerator utilisation below which MLPerf does not count an accelerator, in percent. */
    int requiredPercent() {
        return requiredPercent;
    }

    int defaultFiles() {
        return files;
    }

    /** Batches that a loader has begun or holds when its accelerator takes one. */
    int batchesAhead() {
        if (access != TrainAccess.TFRECORD) {
            // PyTorch: prefetch_factor is prefetch_size / read_threads, rounded up: one batch per process.
            return loading.readers();
        }
        int records = loading.readers() * PREFETCHED_RECORDS + loading.shuffleBuffer();
        return PREFETCHED_BATCHES + 1 + Math.ceilDiv(records, loading.batch());
    }
}
