package io.penstock.filesystem.names;

/**
 * How far a rename of a directory has come, or the undoing of one that has failed.
 *
 * @param from the key prefix that the directory had, which ends in a slash
 * @param to the one that it gets
 * @param done objects that this step has dealt with so far
 * @param all objects of this step
 */
public record RunningRename(String from, String to, Step step, int done, int all) {
    /** Both steps deal with each object. */
    public enum Step {
        COPYING("copied"),
        /** Of the originals, or, where the rename has failed, of the copies. */
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
