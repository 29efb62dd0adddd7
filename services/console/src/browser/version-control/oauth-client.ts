/** Connections to version control providers, as the workspace API returns them. */
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import type { Resource, ResourceId } from '../api/workspaces-api.ts';

export type OAuthClient = ResourceAttributes['oauth-clients'];

/** The id of a client's token; undefined if nobody has authorized the client at its provider yet. */
export const tokenIdOf = ({ relationships }: Resource<OAuthClient>): string | undefined => {
  const [token] = (relationships?.['oauth-tokens']?.data ?? []) as readonly ResourceId[];
  return token?.id;
};

interface Provider {
  readonly title: string;
  /** Addresses of the provider's own service; absent where every installation has its own. */
  readonly httpUrl?: string;
  readonly apiUrl?: string;
  /** Whether it authorizes clients that have a key pair. */
  readonly hasKeyPairs?: boolean;
}

/** The providers whose repositories workspaces can be connected to. */
export const PROVIDERS = {
  github: {
    title: 'GitHub',
    httpUrl: 'https://github.com',
    apiUrl: 'https://api.github.com',
  },
  github_enterprise: { title: 'GitHub Enterprise' },
  gitlab_hosted: {
    title: 'GitLab.com',
    httpUrl: 'https://gitlab.com',
    apiUrl: 'https://gitlab.com/api/v4',
  },
  gitlab_community_edition: { title: 'GitLab Community Edition' },
  gitlab_enterprise_edition: { title: 'GitLab Enterprise Edition' },
  bitbucket_hosted: {
    title: 'Bitbucket Cloud',
    httpUrl: 'https://bitbucket.org',
    apiUrl: 'https://api.bitbucket.org',
  },
  bitbucket_data_center: { title: 'Bitbucket Data Center', hasKeyPairs: true },
  gitea: { title: 'Gitea' },
  forgejo: { title: 'Forgejo' },
} as const satisfies Readonly<Record<string, Provider>>;

export const isProvider = (name: string): name is keyof typeof PROVIDERS => name in PROVIDERS;

export const hasKeyPairs = (name: string): boolean =>
  isProvider(name) && 'hasKeyPairs' in PROVIDERS[name];

/** The provider's own addresses; empty texts where every installation has its own. */
export const addressesOf = (name: string): { readonly httpUrl: string; readonly apiUrl: string } =>
  isProvider(name) ? { httpUrl: '', apiUrl: '', ...PROVIDERS[name] } : { httpUrl: '', apiUrl: '' };
