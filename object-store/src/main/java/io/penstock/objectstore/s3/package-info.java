/** Access to one bucket of an S3 store. No type of the AWS SDK leaves this package. */
@NullMarked
package io.penstock.objectstore.s3;

import org.jspecify.annotations.NullMarked;
