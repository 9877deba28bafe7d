package io.penstock.objectstore;

/**
 * Requests that were sent to the store since the mount began, each attempt counted. S3 charges GETs and HEADs at one price,
 * listings and puts at another, and nothing for deletions.
 *
 * @param gets of objects, and of what belongs to one
 * @param heads of objects and of the bucket
 * @param lists of keys, of uploads and of their parts
 * @param puts of objects and parts, copies, and the beginnings and completions of uploads
 * @param deletes of objects and of uploads
 * @param retries attempts after a failure that may pass
 * @param throttled responses by which the store asks to slow down: 429, 503
 */
public record RequestStatistics(
        long gets, long heads, long lists, long puts, long deletes, long retries, long throttled) {}
