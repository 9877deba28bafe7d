/** Every setting, the places where it can be set, and its effective value. */
@NullMarked
package io.penstock.settings;

import org.jspecify.annotations.NullMarked;
