/** S3 servers in this process: one that stores, and one that makes its objects up. */
@NullMarked
package io.penstock.embeddeds3;

import org.jspecify.annotations.NullMarked;
