/** How other commands talk to a serving process. */
@NullMarked
package io.penstock.serve.control;

import org.jspecify.annotations.NullMarked;
