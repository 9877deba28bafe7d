package io.penstock.benchmarks;

import java.io.IOException;

/** Loads the batches of one accelerator ahead of it, by threads of its own, in one epoch. */
interface TrainLoader extends AutoCloseable {
    /** Waits until the next batch has been read; for one thread. */
    void take() throws IOException, InterruptedException;

    /** Bytes that have been read so far; any thread may ask. */
    long bytes();

    /** Ends the reading, after the calls that are under way. */
    @Override
    void close();
}
