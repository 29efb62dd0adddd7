/** The data that a promotion would lose, computed from the reports of the secondary's services. */

export interface ServicePosition {
  readonly service: string;
  /** Undefined if the service follows no primary. */
  readonly following:
    | {
        readonly state: string;
        readonly mode: string;
        readonly lastRemoteWal: number;
        /** Newest entry the primary is known to have. */
        readonly lastKnownWal: number;
        /** Missing entries that the stream still holds. */
        readonly inStream: number;
        /** Whether the primary stepped back and its complete log has been applied here. */
        readonly isWhole: boolean;
        /** When the primary last reported its position, also to an earlier process; undefined means never. */
        readonly lastReportAtMs: number | undefined;
      }
    | undefined;
}

/** Mounts and namespaces that a paths filter keeps from a secondary. */
export interface KeptPaths {
  readonly dynamic_filtered_mounts: readonly string[];
  readonly dynamic_filtered_namespaces: readonly string[];
}

/**
 * `catching_up`: known entries of the primary are missing, or it is not yet known which entries it has.
 * `unheard`: the primary did not step back, and its commits since its last report are unknown.
 */
type PromotionObstacle = 'catching_up' | 'unheard';

export interface PromotionPlan {
  /** Why `force` is needed; undefined if every entry the primary reported is here, and its report is recent. */
  readonly obstacle: PromotionObstacle | undefined;
  /** Nothing can be lost: the primary stepped back and its whole log is here, or this cluster was that primary. */
  readonly isSafe: boolean;
  /** The primary's whole log is here, up to the entry with which it stepped back. */
  readonly isWhole: boolean;
  readonly services: readonly {
    readonly service: string;
    readonly state: string;
    /** Entries of the primary's log known to be missing. */
    readonly missingEntries: number;
  }[];
  readonly missingEntries: number;
  /** How many of the missing entries the stream holds; these arrive without the primary. */
  readonly arrivingEntries: number;
  /**
   * Time since the primary reported its position to the service that heard from it least recently. Its
   * commits since then are unknown here. Undefined if it never reported, or there is no primary to hear from.
   */
  readonly unheardMs: number | undefined;
  /** Withheld by a paths filter, and therefore missing from this cluster after the promotion. */
  readonly kept?: KeptPaths | undefined;
}

export interface PromotionFacts {
  /** `primary`: the link of a primary. `itself`: it was the primary and has followed no other since. */
  readonly follows: 'primary' | 'itself' | 'nobody';
  readonly nowMs: number;
}

/** Twelve heartbeats. A primary that was silent for longer may have committed anything since. */
const HEARD_WITHIN_MS = 60_000;

type Following = NonNullable<ServicePosition['following']>;

const isCopied = ({ mode, state }: Following): boolean =>
  mode === 'secondary' && !state.startsWith('merkle');

const missingOf = ({ lastKnownWal, lastRemoteWal }: Following): number =>
  Math.max(0, lastKnownWal - lastRemoteWal);

/** A heartbeat dated later than this was recorded before the clock was set back, so its age is unknown. */
const CLOCK_TOLERANCE_MS = 1000;

const sinceLastReport = (followings: readonly Following[], nowMs: number): number | undefined => {
  const ages = followings.map(({ lastReportAtMs }) =>
    lastReportAtMs === undefined || lastReportAtMs > nowMs + CLOCK_TOLERANCE_MS
      ? Number.POSITIVE_INFINITY
      : Math.max(0, nowMs - lastReportAtMs),
  );
  const oldest = Math.max(...ages, 0);
  return followings.length === 0 || oldest === Number.POSITIVE_INFINITY ? undefined : oldest;
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
  const unheardMs = sinceLastReport(known, nowMs);
  const obstacle = (): PromotionObstacle | undefined => {
    if (follows === 'itself') return undefined;
    if (follows === 'nobody') return 'unheard';
    if (!isComplete || missingEntries > 0 || !known.every(isCopied)) return 'catching_up';
    const unheard = known.filter((one) => !one.isWhole);
    const silentMs = sinceLastReport(unheard, nowMs) ?? Number.POSITIVE_INFINITY;
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
