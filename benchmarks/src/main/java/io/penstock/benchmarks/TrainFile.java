package io.penstock.benchmarks;

/**
 * A file of a training data set.
 *
 * @param name in the folder of the data set
 * @param size in bytes
 */
record TrainFile(String name, long size) {}
