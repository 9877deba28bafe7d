/** What is wrong with a machine, a bucket or a mount, and which setting mends it. */
@NullMarked
package io.penstock.cli.doctor;

import org.jspecify.annotations.NullMarked;
