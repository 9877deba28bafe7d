/** Open files: their content, opens, times and shown names, which all handles of one file share. */
@NullMarked
package io.penstock.filesystem.files;

import org.jspecify.annotations.NullMarked;
