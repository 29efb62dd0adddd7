/**
 * The token of the request itself. Only handlers that must name it in their response receive it: for these
 * paths, Access.Resolve asks the gateway to pass it on, in a header that a client cannot set.
 */
import type { RequestHead } from '@keelson/proto/edge/v1/edge';

const PRESENTED_TOKEN_HEADER = 'x-presented-token';

/** "" when the gateway did not pass the token on. */
export const presentedToken = (head: RequestHead): string =>
  head.headers[PRESENTED_TOKEN_HEADER] ?? '';
