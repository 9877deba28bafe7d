package io.penstock.tools.doctor;

/** When a mount's way to the store is examined, with the credentials that the doctor's own process finds. */
enum Phase {
    BEFORE("The mount is refused"),
    /** It has found its credentials by itself, and may have others. */
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
