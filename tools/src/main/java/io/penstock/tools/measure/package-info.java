/** Measures the speed of the store and of a disk, past their caches. */
@NullMarked
package io.penstock.tools.measure;

import org.jspecify.annotations.NullMarked;
