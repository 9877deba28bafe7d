/** Where log lines go, and how they look. */
@NullMarked
package io.penstock.serve.log;

import org.jspecify.annotations.NullMarked;
