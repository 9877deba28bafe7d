package io.penstock.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** The order in which an epoch reads the files, and each accelerator's share of them. */
final class TrainOrder {
    /** DLIO's default (utils/config.py), to which the epoch is added. */
    private static final long SEED = 123;

    private TrainOrder() {}

    static <T> List<T> ofEpoch(List<T> files, TrainModel.Order order, int epoch) {
        List<T> ordered = new ArrayList<>(files);
        if (order == TrainModel.Order.SHUFFLED) {
            Collections.shuffle(ordered, new Random(SEED + epoch));
        }
        return ordered;
    }

    /** One accelerator's files, consecutive in the order, as assigned by DLIO's sampler for PyTorch. */
    static <T> List<T> block(List<T> ordered, int accelerator, int accelerators) {
        int each = ordered.size() / accelerators;
        return ordered.subList(accelerator * each, (accelerator + 1) * each);
    }

    /** One accelerator's files, assigned in turn, as by tf.data's shard. */
    static <T> List<T> shard(List<T> ordered, int accelerator, int accelerators) {
        List<T> share = new ArrayList<>();
        for (int i = accelerator; i < ordered.size(); i += accelerators) {
            share.add(ordered.get(i));
        }
        return share;
    }
}
