/**
 * One cache for all nodes: which nodes there are, which of them owns a slab of an object, and the bytes between them.
 * What no node delivers in time comes from the store.
 */
@NullMarked
package io.penstock.share;

import org.jspecify.annotations.NullMarked;
