/**
 * The built-in runner as a caller: one process of the installation, which executes runs of every
 * organization. Its token is a setting and no record, so that it is never replicated: each cluster has its own
 * runner, whose token opens nothing while the cluster follows another one.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { IdentityDefinition } from '@keelson/proto/workspace/v1/identity';
import type { RpcService } from '@keelson/rpc';
import { hashToken } from '../model/token-records.ts';

const RUNNER = 'runner';

export const isRunner = ({ kind }: Pick<Principal, 'kind'>): boolean => kind === RUNNER;

const PRINCIPAL: Principal = {
  kind: RUNNER,
  id: RUNNER,
  organization: '',
  tokenId: '',
  displayName: 'built-in runner',
  siteAdmin: false,
};

export interface RunnerIdentityParts {
  /** Undefined if the installation has no built-in runner. */
  readonly token: string | undefined;
  /** Whether this cluster writes; false on a secondary, whose runs are the primary's to execute. */
  readonly mayRun: () => boolean;
}

/** Identifies the built-in runner, and leaves every other token to `identity`. */
export const withRunner = (
  identity: RpcService<typeof IdentityDefinition>,
  { token, mayRun }: RunnerIdentityParts,
): RpcService<typeof IdentityDefinition> => {
  if (token === undefined) return identity;
  const expected = Buffer.from(hashToken(token));
  return {
    identify: async (request, call) => {
      const isOwn = timingSafeEqual(Buffer.from(hashToken(request.token)), expected);
      if (!isOwn) return identity.identify(request, call);
      return { principal: mayRun() ? PRINCIPAL : undefined };
    },
  };
};
