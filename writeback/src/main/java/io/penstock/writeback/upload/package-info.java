/** The way of content to the store: parts, multipart uploads, and what a later run needs to go on with them. */
@NullMarked
package io.penstock.writeback.upload;

import org.jspecify.annotations.NullMarked;
