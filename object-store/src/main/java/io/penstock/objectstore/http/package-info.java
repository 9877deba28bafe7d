/** Connections of HTTP/1.1, in the clear or over TLS: to the store, and between nodes. */
@NullMarked
package io.penstock.objectstore.http;

import org.jspecify.annotations.NullMarked;
