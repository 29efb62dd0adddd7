import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** A connection to a version control provider, and the token used for it. */
export const SERVICE_PROVIDERS = {
  bitbucket_data_center: 'Bitbucket Data Center',
  bitbucket_hosted: 'Bitbucket Cloud',
  bitbucket_server: 'Bitbucket Server',
  forgejo: 'Forgejo',
  gitea: 'Gitea',
  github: 'GitHub',
  github_enterprise: 'GitHub Enterprise',
  gitlab_community_edition: 'GitLab Community Edition',
  gitlab_enterprise_edition: 'GitLab Enterprise Edition',
  gitlab_hosted: 'GitLab.com',
} as const;

export const serviceProviderShape = Type.Enum(
  Object.keys(SERVICE_PROVIDERS) as (keyof typeof SERVICE_PROVIDERS)[],
);
export type ServiceProvider = Shaped<typeof serviceProviderShape>;

export const oauthClientShape = Type.Object({
  /** `oc-…`. */
  id: Type.String(),
  organizationId: Type.String(),
  name: nullable(Type.String()),
  serviceProvider: serviceProviderShape,
  httpUrl: Type.String(),
  apiUrl: Type.String(),
  /** The pool whose agents reach the provider; null if the control plane does. */
  agentPoolId: nullable(Type.String()),
  /** Identifies the client to the provider. */
  key: nullable(Type.String()),
  /** Write-only: never part of a response. The private key in PEM form where requests are signed. */
  secret: nullable(Type.String()),
  rsaPublicKey: nullable(Type.String()),
  privateKey: nullable(Type.String()),
  /** Null if nobody has authorized the client at its provider yet. */
  tokenId: nullable(Type.String()),
  /** When true, every workspace of the organization may use it; otherwise only those of its projects. */
  organizationScoped: Type.Boolean(),
  projectIds: Type.Array(Type.String()),
  createdAtMs: Type.Number(),
});
export type OAuthClient = Shaped<typeof oauthClientShape>;

export const oauthTokenShape = Type.Object({
  /** `ot-…`. */
  id: Type.String(),
  organizationId: Type.String(),
  clientId: Type.String(),
  /** Write-only: never part of a response. */
  token: Type.String(),
  /** The organization's SSH key for submodules. */
  sshKeyId: nullable(Type.String()),
  /** A private key of its own for submodules, in place of one of the organization. Never part of a response. */
  sshKey: nullable(Type.String()),
  createdAtMs: Type.Number(),
});
export type OAuthToken = Shaped<typeof oauthTokenShape>;

/** The key of a client whose requests to its provider are signed (OAuth 1.0a with RSA-SHA1). */
export const requestSigningShape = Type.Object({
  consumerKey: Type.String(),
  /** In PEM form. */
  privateKey: Type.String(),
});
export type RequestSigning = Shaped<typeof requestSigningShape>;

/** Bitbucket Data Center authorizes clients that have a key pair; elsewhere the token alone counts. */
export const acceptsKeyPair = (serviceProvider: ServiceProvider): boolean =>
  serviceProvider === 'bitbucket_server' || serviceProvider === 'bitbucket_data_center';

/** Null if the provider is sent the token as it is. */
export const signingOf = ({
  serviceProvider,
  key,
  secret,
  rsaPublicKey,
}: Pick<
  OAuthClient,
  'serviceProvider' | 'key' | 'secret' | 'rsaPublicKey'
>): RequestSigning | null =>
  acceptsKeyPair(serviceProvider) && key && secret && rsaPublicKey
    ? { consumerKey: key, privateKey: secret }
    : null;

/**
 * The page of the console on which a client is authorized at its provider, and to which the provider sends people
 * back; null if the token of the client was part of a request.
 */
export const connectPath = (
  client: OAuthClient,
  organizationName: string,
): `/app/${string}` | null =>
  signingOf(client) === null
    ? null
    : `/app/${encodeURIComponent(organizationName)}/version-control/${client.id}`;

export const clientName = ({ name, serviceProvider }: OAuthClient): string =>
  name ?? SERVICE_PROVIDERS[serviceProvider];

/** Web address of the repository `:org/:repo` at a provider. */
export const repositoryUrl = (
  { serviceProvider, httpUrl }: Pick<OAuthClient, 'serviceProvider' | 'httpUrl'>,
  identifier: string,
): string => {
  const base = httpUrl.endsWith('/') ? httpUrl.slice(0, -1) : httpUrl;
  if (!acceptsKeyPair(serviceProvider)) return `${base}/${identifier}`;
  const [project, ...repository] = identifier.split('/');
  return `${base}/projects/${project}/repos/${repository.join('/')}`;
};

export const isOpenToProject = (
  { organizationScoped, projectIds }: OAuthClient,
  projectId: string,
): boolean => organizationScoped || projectIds.includes(projectId);
