/** What serving processes leave for other commands to find. */
@NullMarked
package io.penstock.cli.state;

import org.jspecify.annotations.NullMarked;
