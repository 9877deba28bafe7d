/** Lists a bucket with concurrent requests, into tables of sorted keys outside the heap, in memory or in a file. */
@NullMarked
package io.penstock.listing;

import org.jspecify.annotations.NullMarked;
