package io.penstock.writeback.upload;

import io.penstock.writeback.content.Run;

/** A part that a commit needs: its number, and what it is made of. */
record PlannedPart(int number, Run run) {}
