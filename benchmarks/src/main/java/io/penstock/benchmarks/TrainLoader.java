package io.penstock.benchmarks;

import java.io.IOException;

/** Loads the batches of one accelerator ahead of it, on separate threads, in one epoch. */
interface TrainLoader extends AutoCloseable {
    /** Waits until the next batch has been read; for one thread. */
    void take() throws IOException, InterruptedException;

    /** Bytes read so far; any thread may call this. */
    long bytes();

    /** Stops reading, after the calls in progress. */
    @Override
    void close();
}
