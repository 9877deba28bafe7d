/** Access to one bucket of an object store: what the rest of Penstock knows of S3. */
@NullMarked
package io.penstock.objectstore;

import org.jspecify.annotations.NullMarked;
