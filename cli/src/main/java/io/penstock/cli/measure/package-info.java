/** How fast the store and a disk are, past what caches them. */
@NullMarked
package io.penstock.cli.measure;

import org.jspecify.annotations.NullMarked;
