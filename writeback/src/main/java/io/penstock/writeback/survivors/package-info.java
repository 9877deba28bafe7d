/** What a written file was when the mount's process died: recorded in memory that outlives the process. */
@NullMarked
package io.penstock.writeback.survivors;

import org.jspecify.annotations.NullMarked;
