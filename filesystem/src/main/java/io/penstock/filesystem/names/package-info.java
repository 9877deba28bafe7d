/**
 * Names: their inodes, and the calls that create, remove, rename and link them. In a directory that is being renamed
 * these calls wait.
 */
@NullMarked
package io.penstock.filesystem.names;

import org.jspecify.annotations.NullMarked;
