/** The kernel's calls to a mount as observers see them: which call, its result, and how long it took. */
@NullMarked
package io.penstock.fuse.calls;

import org.jspecify.annotations.NullMarked;
