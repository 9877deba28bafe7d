/** Fakes for tests: object stores that record, wait and fail on command, a clock that stands still, seeded runs. */
@NullMarked
package io.penstock.testing;

import org.jspecify.annotations.NullMarked;
