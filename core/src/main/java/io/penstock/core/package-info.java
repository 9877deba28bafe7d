/** Value types that two or more modules name. Depends on nothing. */
@NullMarked
package io.penstock.core;

import org.jspecify.annotations.NullMarked;
