/** Real mounts of real buckets, each served by a separate process, used by the programs that users run. */
@NullMarked
package io.penstock.it;

import org.jspecify.annotations.NullMarked;
