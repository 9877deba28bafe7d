/** This process and the launcher that starts it: when it is ready, what it prints, why it refuses. */
@NullMarked
package io.penstock.settings.process;

import org.jspecify.annotations.NullMarked;
