/** Metrics of a serving process for monitoring systems. Without configuration, no class of Micrometer is loaded. */
@NullMarked
package io.penstock.serve.metrics;

import org.jspecify.annotations.NullMarked;
