/** The demo and the training run, each with its own S3 server. */
@NullMarked
package io.penstock.demo;

import org.jspecify.annotations.NullMarked;
