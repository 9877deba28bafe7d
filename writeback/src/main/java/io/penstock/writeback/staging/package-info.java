/** The staging folder: data files, journals, and the files of earlier runs. */
@NullMarked
package io.penstock.writeback.staging;

import org.jspecify.annotations.NullMarked;
