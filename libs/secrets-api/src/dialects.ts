/**
 * Everything in which the two dialects of /v1 answer differently. The dialect is decided at the edge;
 * no other file branches on it.
 */
import { Dialect } from '@keelson/proto/edge/v1/edge';

interface DialectRules {
  /** `expiration` of certificate data: epoch seconds as text or as a number. */
  expiration(epochSeconds: number): string | number;
  /** `ttl` and `max_ttl` of a role that is read: a duration such as "72h", or whole seconds. */
  roleLifetime(seconds: number): string | number;
  /** A requested lifetime over the maximum of role or engine: refused, or cut with a warning. */
  readonly overlongLifetime: 'refuse' | 'cap';
  /** Alternative names of certificates. Plain data: it crosses threads. */
  readonly names: {
    /** A name that cannot be in the certificate refuses the request, or is left out with a warning. */
    readonly unusable: 'refuse' | 'drop';
    /** The kind of name as which a common name that is an IP address is repeated. */
    readonly addressCommonName: 'ip' | 'dns';
  };
  /** Whether `pem_bundle` ends with the root where this service made that. */
  readonly bundlesGeneratedRoot: boolean;
  /** `version` of the service: its own, or the one by which the vendor's clients switch features. */
  version(versions: { readonly own: string; readonly compatible: string }): string;
}

const UNITS = [
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const;

/** In the largest unit that needs no second one, hours at most: "72h", "90m", "0s". */
const toDurationText = (seconds: number): string => {
  const [unit, length] =
    UNITS.find(([, length]) => seconds !== 0 && seconds % length === 0) ?? UNITS[2];
  return `${seconds / length}${unit}`;
};

const RULES: Readonly<Record<Dialect, DialectRules>> = {
  [Dialect.SPECIFICATION]: {
    expiration: String,
    roleLifetime: toDurationText,
    overlongLifetime: 'refuse',
    names: { unusable: 'refuse', addressCommonName: 'ip' },
    bundlesGeneratedRoot: false,
    version: ({ own }) => own,
  },
  [Dialect.VENDOR]: {
    expiration: (epochSeconds) => epochSeconds,
    roleLifetime: (seconds) => seconds,
    overlongLifetime: 'cap',
    names: { unusable: 'drop', addressCommonName: 'dns' },
    bundlesGeneratedRoot: true,
    version: ({ compatible }) => compatible,
  },
};

/** The differing answers of the dialect a request came in. */
export const dialectRules = (dialect: Dialect): DialectRules => RULES[dialect];
