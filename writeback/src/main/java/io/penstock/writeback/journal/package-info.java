/** The journals in the staging folder: what is durable of each written file. */
@NullMarked
package io.penstock.writeback.journal;

import org.jspecify.annotations.NullMarked;
