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
        /** undefined: the primary was never heard of. */
        readonly heardAtMs: number | undefined;
      }
    | undefined;
}

/** What a paths filter keeps from a secondary. */
export interface KeptPaths {
  readonly dynamic_filtered_mounts: readonly string[];
  readonly dynamic_filtered_namespaces: readonly string[];
}

export interface PromotionPlan {
  /** Everything the primary is known to have is here. */
  readonly isSafe: boolean;
  readonly services: readonly {
    readonly service: string;
    readonly state: string;
    /** Entries of the primary's log known to be missing. */
    readonly missingEntries: number;
  }[];
  readonly missingEntries: number;
  /** Since the primary was last heard of: what it has committed since is not known here. */
  readonly unheardMs: number | undefined;
  /** Kept from this secondary by a paths filter: it will not be there. */
  readonly kept?: KeptPaths | undefined;
}

/** @param hasPrimary false after a demotion: then there is nothing to wait for */
export const decidePromotion = (
  positions: readonly ServicePosition[],
  { hasPrimary, nowMs }: { readonly hasPrimary: boolean; readonly nowMs: number },
): PromotionPlan => {
  const services = positions.map(({ service, following }) => ({
    service,
    state: following?.state ?? 'idle',
    missingEntries:
      following === undefined ? 0 : Math.max(0, following.lastKnownWal - following.lastRemoteWal),
  }));
  const missingEntries = services.reduce((sum, one) => sum + one.missingEntries, 0);
  const isCopied = positions.every(({ following }) =>
    following === undefined
      ? !hasPrimary
      : following.mode === 'secondary' && !following.state.startsWith('merkle'),
  );
  const heard = positions
    .map(({ following }) => following?.heardAtMs)
    .filter((atMs) => atMs !== undefined);
  return {
    isSafe: missingEntries === 0 && isCopied,
    services,
    missingEntries,
    unheardMs: heard.length === 0 ? undefined : Math.max(0, nowMs - Math.max(...heard)),
  };
};
