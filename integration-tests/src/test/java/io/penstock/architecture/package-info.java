/** Rules across modules that Maven cannot check. */
@NullMarked
package io.penstock.architecture;

import org.jspecify.annotations.NullMarked;
