/** The FUSE bindings and the mount's lifecycle: thin adapters over {@code io.penstock.filesystem}. */
@NullMarked
package io.penstock.fuse;

import org.jspecify.annotations.NullMarked;
