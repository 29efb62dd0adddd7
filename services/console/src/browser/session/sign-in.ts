import { ApiProblem } from '../api/api-problem.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { changeSession, readSession, type Session, type TokenKind } from '../api/session.ts';
import { callWorkspaces } from '../api/workspaces-api.ts';

/** Verifies a token. @returns what the session knows of it */
const PROOFS: Readonly<Record<TokenKind, (token: string) => Promise<Partial<Session>>>> = {
  secrets: async (token) => {
    const found = await callSecrets<OwnToken>('GET', 'auth/token/lookup-self', { token });
    // The display name of a login by certificate is that of the role.
    const { display_name: displayName, meta } = found.data;
    return { secrets: token, person: meta?.common_name ?? displayName };
  },
  workspaces: async (token) => {
    await callWorkspaces('GET', 'organizations?page[size]=1', { token });
    return { workspaces: token };
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
 * Finds the API that accepts the token and stores the token for this tab, in addition to a token
 * for the other API.
 * @throws {ApiProblem} when neither API accepts the token
 */
export const signIn = async (token: string): Promise<void> => {
  const [first, second] = likelyKinds(token);
  const proven = await PROOFS[first](token).catch(async (error: unknown) => {
    if (!isRefusal(error)) throw error;
    return PROOFS[second](token).catch((other: unknown) => {
      if (!isRefusal(other)) throw other;
      throw new ApiProblem(403, 'permission denied: neither API knows this token');
    });
  });
  const { endedBecause: _, ...session } = readSession();
  changeSession({
    ...session,
    ...proven,
    ...(proven.secrets !== undefined && { isOwnLogin: false }),
  });
};
