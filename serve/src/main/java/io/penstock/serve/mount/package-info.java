/** A mounted bucket: turns its settings into the modules' configurations, and assembles the modules. */
@NullMarked
package io.penstock.serve.mount;

import org.jspecify.annotations.NullMarked;
