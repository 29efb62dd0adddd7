/**
 * How others verify the tokens of runs: `/.well-known/openid-configuration` (OpenID Connect Discovery) and the keys that
 * it names. Anybody may ask, and clouds do before each of their first logins.
 */
import { KeelsonError } from '@keelson/errors';
import type { WorkloadIdentityDefinition } from '@keelson/proto/workspace/v1/workload_identity';
import type { RpcService } from '@keelson/rpc';
import type { FastifyPluginCallback, FastifyReply } from 'fastify';

export interface WorkloadIdentityParts {
  readonly workloadIdentity: RpcService<typeof WorkloadIdentityDefinition>;
}

/** A key is published for a day before it signs. */
const CACHED = 'public, max-age=300';

const answer = (reply: FastifyReply, json: string): FastifyReply =>
  reply.header('cache-control', CACHED).type('application/json').send(json);

export const workloadIdentityPlugin: FastifyPluginCallback<WorkloadIdentityParts> = (
  app,
  { workloadIdentity },
  done,
) => {
  app.get('/.well-known/openid-configuration', async ({ exchange }, reply) => {
    const { discoveryJson } = await workloadIdentity.describe({}, exchange);
    if (discoveryJson === '')
      throw new KeelsonError('request.not_found', {
        text: 'tokens of runs can be verified elsewhere only if KEELSON_PUBLIC_URL is set',
      });
    return answer(reply, discoveryJson);
  });
  app.get('/.well-known/jwks', async ({ exchange }, reply) => {
    const { keysJson } = await workloadIdentity.describe({}, exchange);
    return answer(reply, keysJson);
  });
  done();
};
