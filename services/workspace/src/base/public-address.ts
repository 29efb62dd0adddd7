import type { ServiceContext } from './service-context.ts';

/**
 * An address that others follow: in a mail, at a repository provider, in a notification. It begins with
 * KEELSON_PUBLIC_URL and never with the Host header of a request, because whoever sends a request chooses
 * its Host. `head.baseUrl`, which does follow the Host header, is only for the answer to that request.
 * @returns null where no public address is configured; then no such address is made
 */
export const publicAddress = (
  { publicUrl }: Pick<ServiceContext, 'publicUrl'>,
  path: `/${string}`,
): string | null => (publicUrl === undefined ? null : `${publicUrl}${path}`);
