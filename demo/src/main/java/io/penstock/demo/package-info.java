/** The demo and the training run, each with an S3 server of its own. */
@NullMarked
package io.penstock.demo;

import org.jspecify.annotations.NullMarked;
