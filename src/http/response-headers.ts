/**
 * Headers of every response: caches keep nothing (RFC 9111 §5.2.2.5), as responses hold personal data and depend on the
 * credential, and browsers do not guess a type from the content.
 */
export const defaultHeaders = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

/** `Cache-Control` of a response with an ETag: its client may keep it, and asks each time whether it still holds (RFC 9111 §5.2.2.4). */
export const REVALIDATE = 'private, no-cache';
