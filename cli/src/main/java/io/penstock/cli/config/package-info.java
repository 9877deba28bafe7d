/** Every setting, where it can be made, and what holds in the end. */
@NullMarked
package io.penstock.cli.config;

import org.jspecify.annotations.NullMarked;
