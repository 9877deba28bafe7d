/** The staging folder: data files, journals, and what earlier runs left. */
@NullMarked
package io.penstock.writeback.staging;

import org.jspecify.annotations.NullMarked;
