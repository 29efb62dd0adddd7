/** The address of this cluster that a secondary's token names. */

const LOOPBACK = /^(?:localhost|::1|127(?:\.\d{1,3}){3})$/;

/**
 * The public address, or that of a request within one machine: on loopback there is no other name for it.
 * Any other Host header is its caller's choice, and the secondary that gets the token would follow it.
 * @returns "" without such an address: `primary_api_addr` is then required to enable the secondary
 */
export const addressForSecondary = (
  { apiAddress }: { readonly apiAddress: string },
  { baseUrl, remoteAddress }: { readonly baseUrl: string; readonly remoteAddress: string },
): string => {
  if (apiAddress !== '') return apiAddress;
  const host = new URL(baseUrl).hostname.replace(/^\[(.*)\]$/, '$1');
  return LOOPBACK.test(host) && LOOPBACK.test(remoteAddress) ? baseUrl : '';
};
