/** Where log lines go, and how they look. */
@NullMarked
package io.penstock.cli.log;

import org.jspecify.annotations.NullMarked;
