/** The tokens with which runs sign in: signed for a phase, and read while that phase is at work. */
import { createPublicKey, randomUUID } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import { signClaims, toPublicJwk } from '@keelson/openid/signing-keys';
import type { Transaction } from '@keelson/storage';
import { findOrganizationSwitch } from '../../identity/model/organization-switch-records.ts';
import { projectRecords } from '../../workspaces/model/project-records.ts';
import { isExecuting } from '../model/domain/run.ts';
import { runRecords, toPhase } from '../model/run-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { isIssuable, type WantedToken, wantedTokens } from './domain/wanted-tokens.ts';
import { CLAIM_NAMES, toWorkloadClaims, type WorkloadParts } from './domain/workload-claims.ts';
import { loadWorkloadKeys, requireSigner, WORKLOAD_ALGORITHM } from './workload-key-operations.ts';

export interface WorkloadToken extends Omit<WantedToken, 'audience'> {
  /** Not stored anywhere; "" if the variables ask for one that cannot be signed. */
  readonly token: string;
}

/** Issuer of the tokens of an installation without a public address, which nobody else can verify. */
const NO_ADDRESS = 'keelson';

/** Longest token that is read; those of runs have less than 2 KiB. */
const MAX_TOKEN_LENGTH = 8192;

/** The tokens of a phase that begins, one for each audience that its environment names. */
export const issueWorkloadTokens = async (
  tx: Transaction,
  {
    project: { id: projectId },
    ...parts
  }: Omit<WorkloadParts, 'project'> & {
    readonly project: Pick<WorkloadParts['project'], 'id'>;
  },
  environment: ReadonlyMap<string, string>,
  { issuer = NO_ADDRESS, nowMs }: { readonly issuer: string | undefined; readonly nowMs: number },
): Promise<readonly WorkloadToken[]> => {
  const wanted = wantedTokens(environment);
  if (wanted.length === 0) return [];
  const signer = await requireSigner(tx, nowMs);
  const name = (await projectRecords.find(tx, projectId))?.name ?? '';
  const claims = toWorkloadClaims({ ...parts, project: { id: projectId, name } }, nowMs);
  return Promise.all(
    wanted.map(async (one, index) => {
      const { audience, ...names } = one;
      if (!isIssuable(one, index)) return { ...names, token: '' };
      const own = { ...claims, iss: issuer, aud: audience, jti: randomUUID() };
      return { ...names, token: await signClaims(signer, WORKLOAD_ALGORITHM, own) };
    }),
  );
};

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text: `error validating token: ${text}` });
};

/** @throws KeelsonError `request.invalid` unless a key of this installation has signed the token, which has not expired */
const verify = async (
  { store, clock }: RunsContext,
  token: string,
): Promise<Readonly<Record<string, unknown>>> => {
  const { jwtVerify } = await import('jose');
  const keys = await loadWorkloadKeys(store);
  if (token.length > MAX_TOKEN_LENGTH) return refuse('it is too long for a token of a run');
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) => {
        const signer = keys.find((key) => key.kid === kid);
        return signer === undefined
          ? refuse('no key of this installation has signed it')
          : createPublicKey(signer.privateKey);
      },
      { algorithms: [WORKLOAD_ALGORITHM], currentDate: new Date(clock.nowMs()) },
    );
    return payload;
  } catch (cause) {
    if (cause instanceof KeelsonError) throw cause;
    const text = 'it is not a valid token of a run of this installation';
    throw new KeelsonError(
      'request.invalid',
      { text: `error validating token: ${text}` },
      { cause },
    );
  }
};

/** Whether an agent executes the phase, in an organization that is on. */
export const isAtWork = async (
  { store }: RunsContext,
  { runId, phase }: { readonly runId: string; readonly phase: string },
): Promise<boolean> => {
  const run = await runRecords.find(store, runId);
  return (
    run !== undefined &&
    isExecuting(run.status) &&
    toPhase(run) === phase &&
    (await findOrganizationSwitch(store, run.organizationId)) === undefined
  );
};

/**
 * The claims of a token whose phase is still at work.
 * @throws KeelsonError `request.invalid` for every other token
 */
export const readWorkloadToken = async (
  context: RunsContext,
  token: string,
): Promise<Readonly<Record<string, unknown>>> => {
  const claims = await verify(context, token);
  const { terraform_run_id: runId, terraform_run_phase: phase } = claims;
  return (await isAtWork(context, { runId: String(runId), phase: String(phase) }))
    ? claims
    : refuse('the phase of its run has ended');
};

/** The documents with which others verify tokens of runs, as OpenID Connect Discovery names them. */
export const describeWorkloadIdentity = async ({
  store,
  publicUrl,
}: RunsContext): Promise<{ readonly discoveryJson: string; readonly keysJson: string }> => {
  const keys = await loadWorkloadKeys(store);
  const discovery = {
    issuer: publicUrl,
    jwks_uri: `${publicUrl}/.well-known/jwks`,
    response_types_supported: ['id_token'],
    scopes_supported: ['openid'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [WORKLOAD_ALGORITHM],
    claims_supported: CLAIM_NAMES,
  };
  return {
    discoveryJson: publicUrl === undefined ? '' : JSON.stringify(discovery),
    keysJson: JSON.stringify({ keys: keys.map((key) => toPublicJwk(key, WORKLOAD_ALGORITHM)) }),
  };
};
