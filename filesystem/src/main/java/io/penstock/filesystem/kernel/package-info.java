/** The state of each inode in the kernel, the notices to the kernel, and the error numbers of failures. */
@NullMarked
package io.penstock.filesystem.kernel;

import org.jspecify.annotations.NullMarked;
