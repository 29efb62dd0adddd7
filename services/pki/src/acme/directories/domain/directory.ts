/** The directories of a mount: the paths at which ACME is served, and the URLs of its resources. */

/** A form of directory path. `+` in `pattern` matches one segment, as in the special paths of an engine. */
export interface DirectoryForm {
  /** "/issuer/:issuer_ref/acme". */
  readonly route: string;
  /** "issuer/+/acme/". */
  readonly pattern: string;
  /** Whether an external policy decides instead of a role. */
  readonly isExternal: boolean;
}

const form = (prefix: string): DirectoryForm => ({
  route: `/${prefix}acme`,
  pattern: `${prefix.replaceAll(/:\w+/g, '+')}acme/`,
  isExternal: prefix.includes('external-policy'),
});

export const DIRECTORY_FORMS: readonly DirectoryForm[] = [
  '',
  'issuer/:issuer_ref/',
  'roles/:role/',
  'issuer/:issuer_ref/roles/:role/',
  'external-policy/',
  'external-policy/:policy/',
  'issuer/:issuer_ref/external-policy/',
  'issuer/:issuer_ref/external-policy/:policy/',
].map(form);

/** The parts of a directory's path. */
export interface DirectoryPath {
  /** Relative to the mount, with a final slash: "issuer/x/roles/web/acme/". */
  readonly path: string;
  readonly issuerRef: string | undefined;
  readonly role: string | undefined;
  readonly isExternal: boolean;
  /** "" if the path names none. */
  readonly policy: string;
}

export const directoryPathOf = (
  { route, isExternal }: DirectoryForm,
  params: Readonly<Record<string, string>>,
): DirectoryPath => ({
  path: `${route.slice(1).replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))}/`,
  issuerRef: params['issuer_ref'],
  role: params['role'],
  isExternal,
  policy: params['policy'] ?? '',
});

/** Paths below a directory that need no token; the requests are signed by the client's own key. */
export const UNAUTHENTICATED_RESOURCES: readonly string[] = [
  'directory',
  'new-nonce',
  'new-account',
  'new-order',
  'new-authz',
  'revoke-cert',
  'key-change',
  'account/+',
  'account/+/orders',
  'orders',
  'order/+',
  'order/+/finalize',
  'order/+/cert',
  'order/+/cert/+',
  'authorization/+',
  'challenge/+/+',
  'renewal-info/+',
];

/** Absolute URLs of one directory. */
export interface DirectoryUrls {
  /** Ends with a slash. */
  readonly base: string;
  readonly directory: string;
  account(id: string): string;
  orders(accountId: string, after?: string): string;
  order(id: string): string;
  finalize(orderId: string): string;
  /** @param chainIndex 0 is the default chain */
  certificate(orderId: string, chainIndex: number): string;
  authorization(orderId: string, index: number): string;
  challenge(orderId: string, index: number, type: string): string;
}

export const directoryUrls = (clusterPath: string, directory: string): DirectoryUrls => {
  const base = `${clusterPath.replace(/(?<!\/)\/+$/, '')}/${directory}`;
  return {
    base,
    directory: `${base}directory`,
    account: (id) => `${base}account/${id}`,
    orders: (accountId, after) =>
      `${base}account/${accountId}/orders${after === undefined ? '' : `?after=${after}`}`,
    order: (id) => `${base}order/${id}`,
    finalize: (orderId) => `${base}order/${orderId}/finalize`,
    certificate: (orderId, chainIndex) =>
      `${base}order/${orderId}/cert${chainIndex === 0 ? '' : `/${chainIndex}`}`,
    authorization: (orderId, index) => `${base}authorization/${orderId}-${index}`,
    challenge: (orderId, index, type) => `${base}challenge/${orderId}-${index}/${type}`,
  };
};

/** The order and the index that an authorization's id consists of. */
export const parseAuthorizationId = (
  id: string,
): { readonly orderId: string; readonly index: number } | undefined => {
  const [, orderId, index] = /^([0-9a-f]{32})-(\d{1,3})$/.exec(id) ?? [];
  return orderId === undefined ? undefined : { orderId, index: Number(index) };
};
