package io.penstock.cli.doctor;

import io.penstock.cli.measure.RangeSpeed;
import java.util.List;

/**
 * The network between this machine and the store.
 *
 * @param speeds by ascending concurrency; empty if no object is large enough
 */
record NetworkFacts(List<RangeSpeed> speeds) {}
