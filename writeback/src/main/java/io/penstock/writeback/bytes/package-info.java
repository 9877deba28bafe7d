/** The bytes of written files, wherever they are: memory, staging disk, base version. */
@NullMarked
package io.penstock.writeback.bytes;

import org.jspecify.annotations.NullMarked;
