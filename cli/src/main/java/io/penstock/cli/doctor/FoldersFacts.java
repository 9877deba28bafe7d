package io.penstock.cli.doctor;

/** The folders of a mount that writes. */
record FoldersFacts(DiskFacts cache, DiskFacts staging) {}
