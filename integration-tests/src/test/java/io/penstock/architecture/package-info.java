/** What holds across modules and Maven cannot see. */
@NullMarked
package io.penstock.architecture;

import org.jspecify.annotations.NullMarked;
