/** Fakes for tests: object stores in memory, faulty and recording ones, and a manual clock. */
@NullMarked
package io.penstock.testing;

import org.jspecify.annotations.NullMarked;
