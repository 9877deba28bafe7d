/** S3 servers in this process: one that stores objects, and one that generates them. */
@NullMarked
package io.penstock.embeddeds3;

import org.jspecify.annotations.NullMarked;
