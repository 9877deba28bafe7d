/** Runs the tests of interleavings, which are in the packages of the classes that they test. */
@NullMarked
package io.penstock.interleaving;

import org.jspecify.annotations.NullMarked;
