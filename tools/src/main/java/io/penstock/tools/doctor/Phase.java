package io.penstock.tools.doctor;

/** When the path to the store is examined, with the credentials that the doctor's process finds. */
enum Phase {
    BEFORE("The mount is refused"),
    /** The mount has found its credentials itself, and may have different ones. */
    MOUNTED("The mount's requests fail too, if it has these credentials");

    private final String refusal;

    Phase(String refusal) {
        this.refusal = refusal;
    }

    /** The consequence if the store refuses these credentials. */
    String refusal() {
        return refusal;
    }
}
