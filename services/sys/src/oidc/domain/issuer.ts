/** Who has issued a token: an address below which others find the keys. */
import { KeelsonError } from '@keelson/errors';

/** Scheme and authority; nothing else. */
const ORIGIN = /^https?:\/\/[^/?#@\s]+$/i;

/** @throws KeelsonError `request.invalid` */
export const requireOrigin = (issuer: string): string => {
  if (issuer !== '' && !(ORIGIN.test(issuer) && URL.canParse(issuer)))
    throw new KeelsonError('request.invalid', {
      text: 'invalid issuer, which must include only a scheme, host, and optional port (e.g. https://example.com:8200)',
    });
  return issuer;
};

export interface IssuerParts {
  /** As it was configured; "" for the public address. */
  readonly origin: string;
  readonly publicUrl: string | undefined;
  /** Ends with a slash, or is "". */
  readonly namespacePath: string;
}

/** @throws KeelsonError `request.invalid` if the cluster has no address that others know */
export const originOf = ({ origin, publicUrl }: IssuerParts): string => {
  const found = origin === '' ? publicUrl : origin;
  if (found === undefined)
    throw new KeelsonError('request.invalid', {
      text: 'there is no issuer: set "issuer", or KEELSON_PUBLIC_URL for all',
    });
  return found;
};

/** The issuer of the tokens of roles, or of a provider. */
export const issuerOf = (parts: IssuerParts, provider?: string): string => {
  const own = `${originOf(parts)}/v1/${parts.namespacePath}identity/oidc`;
  return provider === undefined ? own : `${own}/provider/${provider}`;
};

/** The page of the console that a browser opens to sign in for a client. */
export const authorizePage = (parts: IssuerParts, provider: string): string => {
  const { namespacePath } = parts;
  const page = `${originOf(parts)}/ui/identity/oidc/provider/${provider}/authorize`;
  return namespacePath === ''
    ? page
    : `${page}?namespace=${encodeURIComponent(namespacePath.replace(/\/$/, ''))}`;
};
