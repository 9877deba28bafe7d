/** The state of each inode in the kernel, the notices that the kernel gets, and the error numbers of failures. */
@NullMarked
package io.penstock.filesystem.kernel;

import org.jspecify.annotations.NullMarked;
