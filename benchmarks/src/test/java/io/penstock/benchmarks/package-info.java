@NullMarked
package io.penstock.benchmarks;

import org.jspecify.annotations.NullMarked;
