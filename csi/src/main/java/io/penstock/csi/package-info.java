/** The CSI driver: mounts buckets for the pods of a node. */
@NullMarked
package io.penstock.csi;

import org.jspecify.annotations.NullMarked;
