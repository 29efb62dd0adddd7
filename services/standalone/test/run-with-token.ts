/** A run at work whose workspace asks for a token of its own, and a method that accepts it. */
import { addPlannedRun } from '@keelson/testkit/planned-run';
import type { Cluster } from '@keelson/testkit/replication-cluster';

export const startRunWithToken = async (first: Cluster) => {
  let cluster = first;
  const workspaces = async (method: string, path: string, body?: object, token?: string) => {
    const answer = await cluster.api(method, path, body, token);
    if (answer.status >= 400) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const run = await addPlannedRun({ origin: () => cluster.process().http, workspaces }, 'web');
  const attributes = { key: 'TFC_WORKLOAD_IDENTITY_AUDIENCE', value: 'keelson', category: 'env' };
  const data = { type: 'vars', attributes };
  await workspaces('POST', `workspaces/${run.workspaceId}/vars`, { data });
  await workspaces('POST', `runs/${run.runId}/actions/apply`, {});
  const [{ token }] = (await run.claim()).attributes['workload-identity-tokens'];
  await cluster.v1('POST', 'sys/auth/runs', { type: 'jwt' });
  await cluster.v1('POST', 'auth/runs/config', { keelson_runs: true });
  await cluster.v1('POST', 'auth/runs/role/web', {
    role_type: 'jwt',
    user_claim: 'terraform_full_workspace',
    bound_audiences: 'keelson',
    bound_claims: { terraform_organization_name: 'acme' },
  });
  return {
    workspaces,
    finish: () => run.finish(),
    /** Ends the phase at the cluster that has taken over. */
    finishAt: async (other: Cluster): Promise<void> => {
      cluster = other;
      await run.finish();
    },
    /** Signs in at a cluster with the token of the run. @returns the status */
    signInAt: async (other: Cluster): Promise<number> =>
      (await other.v1('POST', 'auth/runs/login', { role: 'web', jwt: String(token) }, '')).status,
  };
};
