/** Attributes of files and directories, such as mode, owner and times, kept as user metadata. */
@NullMarked
package io.penstock.metadata.attributes;

import org.jspecify.annotations.NullMarked;
