/** The local disk: files, folders and their locks. Knows neither pages nor buckets. */
@NullMarked
package io.penstock.disk;

import org.jspecify.annotations.NullMarked;
