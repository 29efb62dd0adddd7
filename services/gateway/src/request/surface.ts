/** The surfaces of the gateway, with the prefix and the common response headers of each. */

export interface Surface {
  /** Selects the error document, and labels the metrics. */
  readonly name: 'v1' | 'api_v2' | 'est' | 'own';
  /** Without a trailing slash; the path below it goes to the service. */
  readonly prefix: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Unless the service's answer says otherwise. */
const NOT_STORED = { 'cache-control': 'no-store' } as const;

export const V1: Surface = { name: 'v1', prefix: '/v1', headers: NOT_STORED };

export const API_V2: Surface = {
  name: 'api_v2',
  prefix: '/api/v2',
  // Provisioning clients check these headers first, and refuse a version below 2.5.
  headers: { 'tfp-api-version': '2.6', 'tfp-appname': 'Keelson' },
};

/** RFC 7030 §3.2.2. */
export const EST: Surface = { name: 'est', prefix: '/.well-known/est', headers: NOT_STORED };

/** Server-sent events for the console. */
export const LIVE: Surface = { name: 'own', prefix: '/live', headers: NOT_STORED };

/** The cookie of the console. */
export const SESSION: Surface = { name: 'own', prefix: '/session', headers: NOT_STORED };

/** Probes, discovery, documentation, console. */
export const OWN: Surface = { name: 'own', prefix: '', headers: {} };
