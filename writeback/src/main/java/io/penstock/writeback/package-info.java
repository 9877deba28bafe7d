/** Written files: 4 MiB blocks, staging on NVMe and its journal, parts, multipart uploads, commit, recovery. */
@NullMarked
package io.penstock.writeback;

import org.jspecify.annotations.NullMarked;
