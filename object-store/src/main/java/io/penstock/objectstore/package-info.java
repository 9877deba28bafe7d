/** Access to one bucket of an S3 store. No type of the AWS SDK leaves this module. */
@NullMarked
package io.penstock.objectstore;

import org.jspecify.annotations.NullMarked;
