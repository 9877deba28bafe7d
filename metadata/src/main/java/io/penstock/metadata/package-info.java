/** The directory tree, rebuilt from flat listings. */
@NullMarked
package io.penstock.metadata;

import org.jspecify.annotations.NullMarked;
