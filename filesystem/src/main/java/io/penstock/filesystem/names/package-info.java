/**
 * Names: their inodes, and the calls that create, remove, rename and link them. These calls wait in a directory that is
 * being renamed.
 */
@NullMarked
package io.penstock.filesystem.names;

import org.jspecify.annotations.NullMarked;
