@NullMarked
package io.penstock.fuse.kernel;

import org.jspecify.annotations.NullMarked;
