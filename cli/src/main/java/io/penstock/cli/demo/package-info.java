/** The demo and the training run, each with an S3 server of its own. */
@NullMarked
package io.penstock.cli.demo;

import org.jspecify.annotations.NullMarked;
