@NullMarked
package io.penstock.embeddeds3;

import org.jspecify.annotations.NullMarked;
