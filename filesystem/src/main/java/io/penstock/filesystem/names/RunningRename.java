package io.penstock.filesystem.names;

/**
 * The progress of a rename of a directory, or of undoing a failed one.
 *
 * @param from the old key prefix of the directory, which ends in a slash
 * @param to its new prefix
 * @param done objects that this step has processed so far
 * @param all objects of this step
 */
public record RunningRename(String from, String to, Step step, int done, int all) {
    /** Both steps process each object. */
    public enum Step {
        COPYING("copied"),
        /** Deletes the originals or, if the rename has failed, the copies. */
        DELETING("deleted");

        private final String participle;

        Step(String participle) {
            this.participle = participle;
        }

        String participle() {
            return participle;
        }
    }
}
