package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/** The folder that is measured. One thread. */
interface TrainTarget {
    /** Has the data there, or finds it there. */
    void provide(TrainData data) throws Exception;

    /** Whether {@link #cold} can be had again and again. */
    boolean hasCold();

    /** Makes it forget all data that it has cached. */
    void cold() throws Exception;

    /** Lets the kernel forget all data; what the client has on its disk stays there, and all of it is there. */
    void warm(TrainData data) throws Exception;

    /** The files of the data set, sorted; a program that trains lists them before it starts too. */
    List<Path> files(TrainData data) throws IOException, BenchException;

    /** A folder for what is written, which {@link #removeData} removes. */
    Path checkpoints() throws IOException;

    /** The process that serves the folder; empty if it is not known, or is the kernel. */
    OptionalLong client();

    /** Removes what {@link #provide} has made. */
    void removeData(TrainData data) throws Exception;
}
