/** Uploads of content to the store: parts, multipart uploads, and the records with which a later run resumes them. */
@NullMarked
package io.penstock.writeback.upload;

import org.jspecify.annotations.NullMarked;
