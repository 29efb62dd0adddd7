/**
 * The token of the request itself. Only the answers that must name it get it: Access.Resolve asks the
 * gateway to pass it on for these paths, in a header that a client cannot set.
 */
import type { RequestHead } from '@keelson/proto/edge/v1/edge';

const PRESENTED_TOKEN_HEADER = 'x-presented-token';

/** "" when the gateway did not pass it on. */
export const presentedToken = (head: RequestHead): string =>
  head.headers[PRESENTED_TOKEN_HEADER] ?? '';
