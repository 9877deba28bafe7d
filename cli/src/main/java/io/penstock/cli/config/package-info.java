/** Every setting, the places where it can be set, and its effective value. */
@NullMarked
package io.penstock.cli.config;

import org.jspecify.annotations.NullMarked;
