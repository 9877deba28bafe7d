/** Measures this machine's disk and a bucket, and compares the rates of a mount or any folder with theirs. */
@NullMarked
package io.penstock.tools.bench;

import org.jspecify.annotations.NullMarked;
