/** The page cache: 1 MiB pages in memory and on NVMe. Knows no S3. */
@NullMarked
package io.penstock.cache;

import org.jspecify.annotations.NullMarked;
