/** An S3 server in this process, for the demo and the integration tests. */
@NullMarked
package io.penstock.embeddeds3;

import org.jspecify.annotations.NullMarked;
