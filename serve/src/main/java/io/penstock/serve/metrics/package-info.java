/** Metrics of a serving process for monitoring systems: off unless configured, and then no class of Micrometer's is loaded. */
@NullMarked
package io.penstock.serve.metrics;

import org.jspecify.annotations.NullMarked;
