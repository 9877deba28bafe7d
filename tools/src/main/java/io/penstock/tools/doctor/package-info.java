/** Finds the faults of a machine, a bucket or a mount, and the setting that fixes each. */
@NullMarked
package io.penstock.tools.doctor;

import org.jspecify.annotations.NullMarked;
