/** Real mounts of real buckets, each served by a process of its own, driven by the programs that users run. */
@NullMarked
package io.penstock.it;

import org.jspecify.annotations.NullMarked;
