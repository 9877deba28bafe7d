/** The content of a written file: blocks over zeros over a base version. Pure: no I/O, no threads. */
@NullMarked
package io.penstock.writeback.content;

import org.jspecify.annotations.NullMarked;
