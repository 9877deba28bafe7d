/** Commands, configuration and wiring. */
@NullMarked
package io.penstock.cli;

import org.jspecify.annotations.NullMarked;
