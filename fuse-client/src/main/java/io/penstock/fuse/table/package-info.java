/** What the kernel holds of a mount, kept where the mount's next process finds it: docs/adr/0042-a-mount-outlives-its-process.md. */
@NullMarked
package io.penstock.fuse.table;

import org.jspecify.annotations.NullMarked;
