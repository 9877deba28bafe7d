/** The state that serving processes leave for other commands. */
@NullMarked
package io.penstock.serve.state;

import org.jspecify.annotations.NullMarked;
