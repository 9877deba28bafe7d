@NullMarked
package io.penstock.cli.metrics;

import org.jspecify.annotations.NullMarked;
