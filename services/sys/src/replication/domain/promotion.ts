/** What a promotion would lose, from what the services of the secondary tell. */

export interface ServicePosition {
  readonly service: string;
  /** undefined: it follows nobody. */
  readonly following:
    | {
        readonly state: string;
        readonly mode: string;
        readonly lastRemoteWal: number;
        /** Newest entry the primary is known to have. */
        readonly lastKnownWal: number;
        /** Entries that the stream holds still, and that are not here. */
        readonly inStream: number;
        /** The primary stepped back, and all of its log is here. */
        readonly isWhole: boolean;
        /** When the primary told its position last, to this process or one before; undefined: never. */
        readonly heardAtMs: number | undefined;
      }
    | undefined;
}

/** What a paths filter keeps from a secondary. */
export interface KeptPaths {
  readonly dynamic_filtered_mounts: readonly string[];
  readonly dynamic_filtered_namespaces: readonly string[];
}

/**
 * `catching_up`: entries that the primary is known to have are missing, or it is not known yet what is.
 * `unheard`: the primary did not step back, and what it has committed since it was heard of is not known.
 */
type PromotionObstacle = 'catching_up' | 'unheard';

export interface PromotionPlan {
  /** Why it needs `force`; undefined: all that the primary told of is here, and it was heard of lately. */
  readonly obstacle: PromotionObstacle | undefined;
  /** Nothing can be lost: the primary stepped back and all of its log is here, or this cluster was it. */
  readonly isSafe: boolean;
  /** All of the primary's log is here, up to the entry with which it stepped back. */
  readonly isWhole: boolean;
  readonly services: readonly {
    readonly service: string;
    readonly state: string;
    /** Entries of the primary's log known to be missing. */
    readonly missingEntries: number;
  }[];
  readonly missingEntries: number;
  /** Of them, those that the stream holds: they arrive without the primary. */
  readonly arrivingEntries: number;
  /**
   * Since the primary told its position, to the service that heard of it least: what it has committed since
   * is not known here. undefined: never, or there is nobody to hear of.
   */
  readonly unheardMs: number | undefined;
  /** Kept from this secondary by a paths filter: it will not be there. */
  readonly kept?: KeptPaths | undefined;
}

export interface PromotionFacts {
  /** `primary`: it has the credentials of one. `itself`: it was the primary and follows nobody since. */
  readonly follows: 'primary' | 'itself' | 'nobody';
  readonly nowMs: number;
}

/** Twelve heartbeats. A primary that was silent for longer may have committed anything meanwhile. */
const HEARD_WITHIN_MS = 60_000;

type Following = NonNullable<ServicePosition['following']>;

const isCopied = ({ mode, state }: Following): boolean =>
  mode === 'secondary' && !state.startsWith('merkle');

const missingOf = ({ lastKnownWal, lastRemoteWal }: Following): number =>
  Math.max(0, lastKnownWal - lastRemoteWal);

/** A heartbeat dated later than that was noted before the clock was set back: how long ago is not known. */
const CLOCK_TOLERANCE_MS = 1000;

const sinceHeard = (heard: readonly Following[], nowMs: number): number | undefined => {
  const ages = heard.map(({ heardAtMs }) =>
    heardAtMs === undefined || heardAtMs > nowMs + CLOCK_TOLERANCE_MS
      ? Number.POSITIVE_INFINITY
      : Math.max(0, nowMs - heardAtMs),
  );
  const oldest = Math.max(...ages, 0);
  return heard.length === 0 || oldest === Number.POSITIVE_INFINITY ? undefined : oldest;
};

export const decidePromotion = (
  positions: readonly ServicePosition[],
  { follows, nowMs }: PromotionFacts,
): PromotionPlan => {
  const services = positions.map(({ service, following }) => ({
    service,
    state: following?.state ?? 'idle',
    missingEntries: following === undefined ? 0 : missingOf(following),
  }));
  const missingEntries = services.reduce((sum, one) => sum + one.missingEntries, 0);
  const known = positions.flatMap(({ following }) => following ?? []);
  const isComplete = known.length === positions.length;
  const isWhole = isComplete && known.every((one) => one.isWhole);
  const unheardMs = sinceHeard(known, nowMs);
  const obstacle = (): PromotionObstacle | undefined => {
    if (follows === 'itself') return undefined;
    if (follows === 'nobody') return 'unheard';
    if (!isComplete || missingEntries > 0 || !known.every(isCopied)) return 'catching_up';
    const unheard = known.filter((one) => !one.isWhole);
    const silentMs = sinceHeard(unheard, nowMs) ?? Number.POSITIVE_INFINITY;
    return unheard.length > 0 && silentMs > HEARD_WITHIN_MS ? 'unheard' : undefined;
  };
  const arrivingEntries = known.reduce((sum, { inStream }) => sum + inStream, 0);
  const found = obstacle();
  return {
    obstacle: found,
    isSafe: found === undefined && (isWhole || follows === 'itself'),
    isWhole,
    services,
    missingEntries,
    arrivingEntries,
    unheardMs,
  };
};
