/** Test fakes: object stores that record, delay and fail calls, a clock that stands still, seeded runs. */
@NullMarked
package io.penstock.testing;

import org.jspecify.annotations.NullMarked;
