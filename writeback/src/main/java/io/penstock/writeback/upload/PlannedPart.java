package io.penstock.writeback.upload;

import io.penstock.writeback.content.Run;

/** A part that a commit needs: its number and its runs. */
record PlannedPart(int number, Run run) {}
