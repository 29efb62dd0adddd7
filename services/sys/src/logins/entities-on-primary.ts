/** Entities of logins at performance secondaries: the primary creates them, and all clusters of the set have them. */
import { answeringSecondaries, askPrimary, type ReplicationMember } from '@keelson/cluster-member';
import { type EdgeService, edgeResponse } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { LoginAlias } from '../identity/domain/entity.ts';
import { provideLoginEntity } from '../identity/login-entity-operations.ts';
import type { EntityRef } from '../tokens/domain/token-entry.ts';
import type { TokenContext } from '../tokens/token-context.ts';
import type { LoginContext } from './login-operations.ts';

const METHOD = 'IDENTIFY';

export const askingPrimary =
  (member: ReplicationMember): LoginContext['askPrimary'] =>
  async ({ uuid, local, type }, alias) => {
    const request = { method: METHOD, mount: { uuid, local, type }, body: alias };
    const { status, body } = await askPrimary(member, request);
    if (status !== 200) throw new KeelsonError('sys.permission_denied');
    return JSON.parse(body.toString()) as EntityRef;
  };

/** Wraps the service for secondaries: provides entities for them, and passes on all other requests. */
export const identifyingForSecondaries = (
  { tokens, mounts }: { readonly tokens: TokenContext; readonly mounts: LoginContext['mounts'] },
  edge: EdgeService,
): EdgeService =>
  answeringSecondaries(edge, METHOD, async ({ uuid }, body) => {
    const mount = (await mounts()).findByUuid(uuid);
    if (mount === undefined || mount.local) return edgeResponse(404);
    const entity = await tokens.store.transact((tx) =>
      provideLoginEntity(tx, mount, body as LoginAlias, tokens.clock.nowMs()),
    );
    return edgeResponse(200, {}, Buffer.from(JSON.stringify(entity)));
  });
