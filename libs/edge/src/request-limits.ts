/**
 * Limits on everything whose size a caller chooses, for each dialect. Protocols with other bodies (ACME, EST,
 * OCSP) have limits where they are parsed.
 */

export interface JsonLimits {
  /** Nesting below the outermost container. */
  readonly depth: number;
  /** In UTF-16 code units. */
  readonly stringLength: number;
  readonly objectEntries: number;
  readonly arrayElements: number;
  /** Entries of all objects and arrays in a document together. */
  readonly documentEntries: number;
}

export interface RequestLimits {
  readonly bodyBytes: number;
  readonly json: JsonLimits;
  /** Parameters of a query string or form. */
  readonly parameters: number;
}

const ENTRIES = {
  objectEntries: 10_000,
  arrayElements: 10_000,
  documentEntries: 100_000,
} as const;

/** `/v1`. */
export const SECRETS_LIMITS: RequestLimits = {
  bodyBytes: 32 * 1024 * 1024,
  json: { ...ENTRIES, depth: 300, stringLength: 1024 * 1024 },
  // The same number as the entries of a JSON object.
  parameters: ENTRIES.objectEntries,
};

/** `/api/v2`; endpoints that accept files inside a document allow larger bodies. */
export const JSON_API_LIMITS: RequestLimits = {
  bodyBytes: 1024 * 1024,
  // Each attribute has its own length limit.
  json: { ...ENTRIES, depth: 32, stringLength: Number.POSITIVE_INFINITY },
  parameters: 256,
};
