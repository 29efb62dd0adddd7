/** `Retry-After` of a response to a request over a limit, in seconds. */
export const RETRY_AFTER_SECONDS = '1';
