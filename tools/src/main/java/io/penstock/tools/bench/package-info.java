/** Measures this machine's disk and a bucket, and the rates of a mount or any folder beside theirs. */
@NullMarked
package io.penstock.tools.bench;

import org.jspecify.annotations.NullMarked;
