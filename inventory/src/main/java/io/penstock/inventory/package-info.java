/** Lists of a bucket's objects, as files with the columns of Amazon S3 Inventory. */
@NullMarked
package io.penstock.inventory;

import org.jspecify.annotations.NullMarked;
