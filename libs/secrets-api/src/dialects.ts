/**
 * Everything in which the two dialects of /v1 answer differently. The dialect is decided at the edge;
 * no other file branches on it.
 */
import { Dialect } from '@keelson/proto/edge/v1/edge';

interface DialectRules {
  /** `expiration` of certificate data: epoch seconds as text or as a number. */
  expiration(epochSeconds: number): string | number;
  /** A requested lifetime over the maximum of role or engine: refused, or cut with a warning. */
  readonly overlongLifetime: 'refuse' | 'cap';
  /** Whether `pem_bundle` ends with the root where this service made that. */
  readonly bundlesGeneratedRoot: boolean;
}

const RULES: Readonly<Record<Dialect, DialectRules>> = {
  [Dialect.SPECIFICATION]: {
    expiration: String,
    overlongLifetime: 'refuse',
    bundlesGeneratedRoot: false,
  },
  [Dialect.VENDOR]: {
    expiration: (epochSeconds) => epochSeconds,
    overlongLifetime: 'cap',
    bundlesGeneratedRoot: true,
  },
};

/** The differing answers of the dialect a request came in. */
export const dialectRules = (dialect: Dialect): DialectRules => RULES[dialect];
