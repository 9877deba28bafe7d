/** A bucket that is served: its settings become the modules' configurations, and the modules are put together. */
@NullMarked
package io.penstock.serve.mount;

import org.jspecify.annotations.NullMarked;
