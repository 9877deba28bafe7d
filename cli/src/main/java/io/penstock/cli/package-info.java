/** The command line: the commands, their arguments and their output. */
@NullMarked
package io.penstock.cli;

import org.jspecify.annotations.NullMarked;
