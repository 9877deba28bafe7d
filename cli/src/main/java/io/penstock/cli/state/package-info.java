/** The state that serving processes leave for other commands. */
@NullMarked
package io.penstock.cli.state;

import org.jspecify.annotations.NullMarked;
