package io.penstock.cli.doctor;

import io.penstock.objectstore.ObjectStoreException;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of opening the bucket as a mount does.
 *
 * @param failure null if it can be mounted
 * @param anonymous whether it can be listed without credentials; false if that was not tried
 */
record BucketFacts(@Nullable ObjectStoreException failure, boolean anonymous) {}
