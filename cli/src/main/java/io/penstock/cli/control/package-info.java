/** How other commands talk to a serving process. */
@NullMarked
package io.penstock.cli.control;

import org.jspecify.annotations.NullMarked;
