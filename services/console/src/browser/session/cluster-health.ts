/** Why nobody can sign in, as far as the cluster says so to anyone. */

/** Of `sys/health`; the other members are not looked at. */
export interface ClusterHealth {
  readonly initialized: boolean;
  readonly sealed: boolean;
  readonly replication_dr_mode: string;
}

/** Asked so that each state is answered with 200. */
export const readHealth = async (): Promise<ClusterHealth> => {
  const codes = ['uninitcode', 'sealedcode', 'drsecondarycode'].map((name) => `${name}=200`);
  const answer = await fetch(`/v1/sys/health?${codes.join('&')}`, { cache: 'no-store' });
  return (await answer.json()) as ClusterHealth;
};

/** undefined: nothing stands in the way. */
export const hindranceOf = (health: ClusterHealth): string | undefined => {
  if (!health.initialized) return 'This cluster is not initialized: sys/init comes first.';
  if (health.sealed) return 'This cluster is sealed: nobody can sign in until it is unsealed.';
  return health.replication_dr_mode === 'secondary' ||
    health.replication_dr_mode === 'bootstrapping'
    ? 'This cluster is a DR secondary: it serves its clients once it is promoted.'
    : undefined;
};
