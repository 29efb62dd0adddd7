/**
 * Passcodes of logins at performance secondaries: the primary verifies and counts them for all clusters of the set, so
 * that each is accepted once, and guesses at several clusters are guesses at one.
 */
import { answeringSecondaries, askPrimary, type ReplicationMember } from '@keelson/cluster-member';
import { type EdgeService, edgeResponse } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import type { FactorVerdict, GivenPasscode, MfaContext } from './mfa-context.ts';
import { verifyPasscode } from './passcode-operations.ts';

const METHOD = 'VERIFY';

export const verifyingAtPrimary =
  (member: ReplicationMember): MfaContext['verifyAtPrimary'] =>
  async ({ uuid, local, type }, given) => {
    const request = { method: METHOD, mount: { uuid, local, type }, body: given };
    const { status, body } = await askPrimary(member, request);
    if (status !== 200) throw new KeelsonError('sys.permission_denied');
    return JSON.parse(body.toString()) as FactorVerdict;
  };

/** Wraps the service for secondaries: verifies passcodes for them, and passes on all other requests. */
export const verifyingForSecondaries = (
  { mfa, mounts }: { readonly mfa: MfaContext; readonly mounts: () => Promise<MountIndex> },
  edge: EdgeService,
): EdgeService =>
  answeringSecondaries(edge, METHOD, async ({ uuid }, body) => {
    const mount = (await mounts()).findByUuid(uuid);
    const given = body as GivenPasscode;
    // A secondary asks about people who sign in at mounts that it has.
    if (mount === undefined || mount.local || mount.namespaceId !== given.entity.namespaceId)
      return edgeResponse(404);
    const verdict = await verifyPasscode(mfa, given);
    return edgeResponse(200, {}, Buffer.from(JSON.stringify(verdict)));
  });
