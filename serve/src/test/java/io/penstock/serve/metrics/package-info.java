@NullMarked
package io.penstock.serve.metrics;

import org.jspecify.annotations.NullMarked;
