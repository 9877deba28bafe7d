/** Value types that two or more modules name, and the native memory of all modules. Depends on nothing. */
@NullMarked
package io.penstock.core;

import org.jspecify.annotations.NullMarked;
