/** This process and the launcher that starts it: when it is ready, how it is told to end, why it refuses. */
@NullMarked
package io.penstock.settings.process;

import org.jspecify.annotations.NullMarked;
