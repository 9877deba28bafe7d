/** What files and directories have beside names and bytes: mode, owner, times and the like, kept as user metadata. */
@NullMarked
package io.penstock.metadata.attributes;

import org.jspecify.annotations.NullMarked;
