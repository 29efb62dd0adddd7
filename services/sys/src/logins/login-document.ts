/** The `auth` block that answers a login. */
import type { JsonObject } from '@keelson/secrets-api';
import { requirementDocument } from '../mfa/mfa-document.ts';
import type { TokenContext } from '../tokens/token-context.ts';
import { toAuthBlock } from '../tokens/token-document.ts';
import { rightsOf } from '../tokens/token-rights-operations.ts';
import type { LoginOutcome } from './login-operations.ts';

/** A login that waits for a second factor has no token, and says what it waits for. */
export const loginAuthBlock = async (
  tokens: TokenContext,
  outcome: LoginOutcome,
): Promise<JsonObject> => {
  if (outcome.kind === 'token') {
    const { token, entry } = outcome;
    return toAuthBlock(token, entry, await rightsOf(tokens, entry), tokens.clock.nowMs());
  }
  return {
    client_token: '',
    accessor: '',
    policies: null,
    token_policies: null,
    identity_policies: null,
    metadata: null,
    lease_duration: 0,
    renewable: false,
    entity_id: '',
    token_type: 'default',
    orphan: false,
    mfa_requirement: requirementDocument(outcome.id, outcome.constraints, outcome.passkeys),
    num_uses: 0,
  };
};
