/** The cluster's public health status: whether it can be used, its name and its version. */

/** The members of the `sys/health` response that the console uses. */
export interface ClusterHealth {
  readonly initialized: boolean;
  readonly sealed: boolean;
  readonly replication_dr_mode: string;
  readonly replication_performance_mode: string;
  readonly version: string;
  readonly cluster_name?: string;
}

/** Reason why nobody can sign in; undefined when signing in is possible. */
export const hindranceOf = (
  health: Pick<
    ClusterHealth,
    'initialized' | 'sealed' | 'replication_dr_mode' | 'replication_performance_mode'
  >,
): string | undefined => {
  if (!health.initialized) return 'This cluster is not initialized: its keys are made first.';
  if (health.sealed) return 'This cluster is sealed: nobody can sign in until it is unsealed.';
  if (['secondary', 'bootstrapping'].includes(health.replication_dr_mode))
    return 'This cluster is a DR secondary: it serves its clients once it is promoted.';
  return health.replication_performance_mode === 'bootstrapping'
    ? 'This cluster is being filled by its primary. Its former tokens are gone.'
    : undefined;
};
