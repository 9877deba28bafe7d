/** The directory tree rebuilt from the flat keys of a bucket, what is believed of it and for how long, and inodes. */
@NullMarked
package io.penstock.metadata;

import org.jspecify.annotations.NullMarked;
