/** What this machine, a disk and a bucket could do, and what a mount or any folder does of it. */
@NullMarked
package io.penstock.cli.bench;

import org.jspecify.annotations.NullMarked;
