/**
 * All differences between the responses of the two dialects of /v1. The dialect is decided at the edge; no
 * other file depends on it.
 */
import { Dialect } from '@keelson/proto/edge/v1/edge';

interface DialectRules {
  /** `expiration` of certificate data: epoch seconds, as text or as a number. */
  expiration(epochSeconds: number): string | number;
  /** `ttl` and `max_ttl` of a role in responses: a duration such as "72h", or whole seconds. */
  roleLifetime(seconds: number): string | number;
  /** A requested lifetime above the maximum of role or engine is refused, or reduced with a warning. */
  readonly overlongLifetime: 'refuse' | 'cap';
  /**
   * Whether the limits of lifetimes also apply to the absolute start and end that a request names, where
   * its role has no rule for them.
   */
  readonly absoluteTimes: 'bounded' | 'free';
  /**
   * A lifetime in the request for a CSR, which has none. The vendor's command line sends the parameters of the
   * certificate along with those of the CSR.
   */
  readonly lifetimeOfRequest: 'refuse' | 'warn';
  /** Alternative names of certificates. Plain data, because it is sent to worker threads. */
  readonly names: {
    /**
     * Whether a name that a certificate cannot contain, or that the role does not allow, causes a
     * refusal, or is omitted with a warning.
     */
    readonly unusable: 'refuse' | 'drop';
    /** The kind of alternative name that repeats a common name which is an IP address. */
    readonly addressCommonName: 'ip' | 'dns';
  };
  /** Whether `pem_bundle` includes the root if this service created it. */
  readonly bundlesGeneratedRoot: boolean;
  /** `version` of the service: its own, or the one from which the vendor's clients derive features. */
  version(versions: { readonly own: string; readonly compatible: string }): string;
}

const UNITS = [
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const;

/** In the largest unit that gives a whole number, hours at most: "72h", "90m", "0s". */
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
    absoluteTimes: 'bounded',
    lifetimeOfRequest: 'refuse',
    names: { unusable: 'refuse', addressCommonName: 'ip' },
    bundlesGeneratedRoot: false,
    version: ({ own }) => own,
  },
  [Dialect.VENDOR]: {
    expiration: (epochSeconds) => epochSeconds,
    roleLifetime: (seconds) => seconds,
    overlongLifetime: 'cap',
    absoluteTimes: 'free',
    lifetimeOfRequest: 'warn',
    names: { unusable: 'drop', addressCommonName: 'dns' },
    bundlesGeneratedRoot: true,
    version: ({ compatible }) => compatible,
  },
};

/** The rules of the dialect of a request. */
export const dialectRules = (dialect: Dialect): DialectRules => RULES[dialect];
