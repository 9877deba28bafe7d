package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/**
 * PyTorch's DataLoader: each worker reads whole batches, file after file, one batch ahead of the accelerator; the
 * batches are taken in order. Worker w reads the batches w, w + workers and so on.
 */
final class TrainBatchLoader implements TrainLoader {
    private final TrainAccess access;
    private final List<Path> files;
    private final int batch;
    private final int workers;
    private final TrainLanes lanes;

    /**
     * Starts to read.
     *
     * @param files one sample each, in order; those after the last full batch are left out
     */
    TrainBatchLoader(TrainModel model, List<Path> files) {
        this.access = model.access();
        this.files = files;
        this.batch = model.loading().batch();
        this.workers = model.loading().readers();
        this.lanes = new TrainLanes(workers, 1);
        lanes.start(this::readBatches);
    }

    private void readBatches(int worker, ByteBuffer buffer) throws IOException, InterruptedException {
        for (int first = worker * batch; first + batch <= files.size(); first += workers * batch) {
            if (!lanes.begin(worker)) {
                return;
            }
            for (int i = first; i < first + batch && !lanes.isClosed(); i++) {
                lanes.count(access.read(files.get(i), buffer));
            }
            lanes.finish(worker);
        }
    }

    @Override
    public void take() throws IOException, InterruptedException {
        lanes.take();
    }

    @Override
    public long bytes() {
        return lanes.bytes();
    }

    @Override
    public void close() {
        lanes.close();
    }
}
