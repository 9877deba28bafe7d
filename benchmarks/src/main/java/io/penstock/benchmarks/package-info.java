/** The programs behind docs/BENCHMARKS.md. */
@NullMarked
package io.penstock.benchmarks;

import org.jspecify.annotations.NullMarked;
