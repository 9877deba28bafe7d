/** Access to one bucket of an object store: the part of S3 that the rest of Penstock sees. */
@NullMarked
package io.penstock.objectstore;

import org.jspecify.annotations.NullMarked;
