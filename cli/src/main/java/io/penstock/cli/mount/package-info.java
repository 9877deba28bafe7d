/** A bucket that is served: its settings become the modules' configurations, and the modules are put together. */
@NullMarked
package io.penstock.cli.mount;

import org.jspecify.annotations.NullMarked;
