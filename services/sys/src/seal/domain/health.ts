/** The status code of `sys/health`, decided by the first of these states that applies. */
export interface HealthState {
  readonly initialized: boolean;
  readonly sealed: boolean;
  /** Another service of the cluster, or its store, cannot be reached. */
  readonly isIncomplete: boolean;
  readonly isDrSecondary: boolean;
  /** Another cluster was promoted in place of this one, which refuses writes. */
  readonly isSuperseded: boolean;
  readonly isPerformanceStandby: boolean;
  readonly isStandby: boolean;
}

/** Query parameters that override status codes; undefined if not given. */
export interface HealthOverrides {
  readonly uninitcode?: number | undefined;
  readonly sealedcode?: number | undefined;
  readonly incompletecode?: number | undefined;
  readonly drsecondarycode?: number | undefined;
  readonly performancestandbycode?: number | undefined;
  readonly standbycode?: number | undefined;
  readonly activecode?: number | undefined;
  readonly standbyok?: boolean | undefined;
  readonly perfstandbyok?: boolean | undefined;
}

export const decideHealthCode = (state: HealthState, overrides: HealthOverrides): number => {
  const active = overrides.activecode ?? 200;
  if (!state.initialized) return overrides.uninitcode ?? 501;
  if (state.sealed) return overrides.sealedcode ?? 503;
  if (state.isIncomplete) return overrides.incompletecode ?? 503;
  if (state.isDrSecondary || state.isSuperseded) return overrides.drsecondarycode ?? 472;
  if (state.isPerformanceStandby) {
    return overrides.perfstandbyok === true ? active : (overrides.performancestandbycode ?? 473);
  }
  if (state.isStandby) {
    return overrides.standbyok === true ? active : (overrides.standbycode ?? 429);
  }
  return active;
};
