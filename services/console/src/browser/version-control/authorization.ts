/** Parameters that a provider adds to the address when it sends back a person who was to authorize a client. */

export interface SentBack {
  readonly oauth_token?: string;
  readonly oauth_verifier?: string;
}

/** Texts of digits alone arrive as numbers. */
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

export const parseSentBack = (search: Readonly<Record<string, unknown>>): SentBack => {
  const token = textOf(search['oauth_token']);
  const verifier = textOf(search['oauth_verifier']);
  return {
    ...(token !== undefined && { oauth_token: token }),
    ...(verifier !== undefined && { oauth_verifier: verifier }),
  };
};

/** Bitbucket's verifier when the person has refused. */
export const isRefusal = ({ oauth_verifier: verifier }: SentBack): boolean => verifier === 'denied';

export const completionBody = ({ oauth_token, oauth_verifier }: SentBack): object => ({
  data: {
    type: 'oauth-authorizations',
    attributes: { 'oauth-token': oauth_token, 'oauth-verifier': oauth_verifier },
  },
});
