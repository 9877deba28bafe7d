@NullMarked
package io.penstock.fuse.calls;

import org.jspecify.annotations.NullMarked;
