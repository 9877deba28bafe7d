package io.penstock.objectstore.s3;

/**
 * Requests sent to the store since the mount began; each attempt counts. S3 charges GETs and HEADs at one price,
 * listings and puts at another, and nothing for deletions.
 *
 * @param gets of objects and of their metadata
 * @param heads of objects and of the bucket
 * @param lists of keys, of uploads and of their parts
 * @param puts of objects and parts, copies, and the creation and completion of uploads
 * @param deletes of objects and of uploads
 * @param retries attempts after a transient failure
 * @param throttled responses that ask for fewer requests: 429, 503
 */
public record RequestStatistics(
        long gets, long heads, long lists, long puts, long deletes, long retries, long throttled) {}
