/** The kernel's calls to a mount as others see them: which they were, what they returned, and how long they took. */
@NullMarked
package io.penstock.fuse.calls;

import org.jspecify.annotations.NullMarked;
