/**
 * Sizes that the caller of a dialect chooses, and how far they may go. A body of a protocol of its own
 * (ACME, EST, OCSP) has its limit where the protocol is read.
 */

export interface JsonLimits {
  /** Of containers below the outermost one. */
  readonly depth: number;
  /** UTF-16 code units. */
  readonly stringLength: number;
  readonly objectEntries: number;
  readonly arrayElements: number;
  /** Of all objects and arrays of a document together. */
  readonly documentEntries: number;
}

export interface RequestLimits {
  readonly bodyBytes: number;
  readonly json: JsonLimits;
  /** Of a query string, or of a form. */
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
  // As many as a JSON object may have entries.
  parameters: ENTRIES.objectEntries,
};

/** `/api/v2`; endpoints that take files inside of a document allow larger bodies. */
export const JSON_API_LIMITS: RequestLimits = {
  bodyBytes: 1024 * 1024,
  // Each attribute has a longest text of its own.
  json: { ...ENTRIES, depth: 32, stringLength: Number.POSITIVE_INFINITY },
  parameters: 256,
};
