package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/** The measured folder. One thread. */
interface TrainTarget {
    /** Creates the data, or finds that it exists. */
    void provide(TrainData data) throws Exception;

    /** Whether {@link #cold} can be called repeatedly. */
    boolean hasCold();

    /** Makes the target forget all cached data. */
    void cold() throws Exception;

    /** Makes the kernel forget all data; the client has all of it on its disk. */
    void warm(TrainData data) throws Exception;

    /** The files of the data set, sorted. A training program also lists them before it starts. */
    List<Path> files(TrainData data) throws IOException, BenchException;

    /** A folder for written data, which {@link #removeData} removes. */
    Path checkpoints() throws IOException;

    /** The process that serves the folder; empty if it is unknown or is the kernel. */
    OptionalLong client();

    /** Removes what {@link #provide} has created. */
    void removeData(TrainData data) throws Exception;
}
