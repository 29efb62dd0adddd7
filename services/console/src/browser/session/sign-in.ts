import { ApiProblem } from '../api/api-problem.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { beginSession, type Session, type TokenKind, type Tokens } from '../api/session.ts';
import { callWorkspaces } from '../api/workspaces-api.ts';
import { accountOf } from './account-of.ts';

interface Proven {
  readonly tokens: Tokens;
  /** The facts about them that the session stores. */
  readonly known: Partial<Session>;
}

/** Verifies a token. */
const PROOFS: Readonly<Record<TokenKind, (token: string) => Promise<Proven>>> = {
  secrets: async (token) => {
    const found = await callSecrets<OwnToken>('GET', 'auth/token/lookup-self', { token });
    // The display name of a login by certificate is that of the role.
    const { display_name: displayName, meta } = found.data;
    const known = { person: meta?.common_name ?? displayName, isOwnLogin: false };
    return { tokens: { secrets: token }, known };
  },
  workspaces: async (token) => {
    await callWorkspaces('GET', 'organizations?page[size]=1', { token });
    return { tokens: { workspaces: token }, known: await accountOf(token) };
  },
};

interface OwnToken {
  readonly data: {
    readonly display_name: string;
    readonly meta?: { readonly common_name?: string } | null;
  };
}

const isRefusal = (error: unknown): boolean =>
  error instanceof ApiProblem && [400, 401, 403].includes(error.status);

/** The APIs in order of likelihood, judged by the format of Keelson's tokens. */
const likelyKinds = (token: string): readonly [TokenKind, TokenKind] =>
  token.includes('.atlasv1.') ? ['workspaces', 'secrets'] : ['secrets', 'workspaces'];

/**
 * Finds the API that accepts the token and begins a session with it, in addition to a token for the
 * other API.
 * @throws {ApiProblem} when neither API accepts the token
 */
export const signIn = async (token: string): Promise<void> => {
  const [first, second] = likelyKinds(token);
  const { tokens, known } = await PROOFS[first](token).catch(async (error: unknown) => {
    if (!isRefusal(error)) throw error;
    return PROOFS[second](token).catch((other: unknown) => {
      if (!isRefusal(other)) throw other;
      throw new ApiProblem(403, 'permission denied: neither API knows this token');
    });
  });
  await beginSession(tokens, known);
};
