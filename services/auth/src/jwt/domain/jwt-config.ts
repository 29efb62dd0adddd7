/** The provider of a mount: where its keys come from, and the rules that hold for all roles. */
import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { type KeySource, SIGNATURE_ALGORITHMS } from '../../providers/domain/verification-keys.ts';

const keySetShape = Type.Object({
  url: Type.String(),
  /** Certificates that a server must chain to; "" for those that the system trusts. */
  caPem: Type.String(),
});

/** Texts are empty where a parameter is not set. */
export const jwtConfigShape = Type.Object({
  /** PEM. */
  validationPubkeys: Type.Array(Type.String()),
  jwks: Type.Optional(keySetShape),
  jwksPairs: Type.Array(keySetShape),
  oidcDiscovery: Type.Optional(keySetShape),
  /** Set if the tokens are those of the runs of this installation. */
  acceptsOwnRuns: Type.Optional(Type.Literal(true)),
  /** Empty for all of `SIGNATURE_ALGORITHMS`. */
  supportedAlgs: Type.Array(Type.String()),
  boundIssuer: Type.String(),
  /** In lower case. */
  defaultRole: Type.String(),
  /** The client that the provider knows, for logins through a browser; "" without them. */
  oidcClientId: Type.String(),
  oidcClientSecret: Type.String(),
  /** Whether the browser brings a form in place of parameters in its address. */
  postsForm: Type.Boolean(),
  /** Whether the browser brings the token itself, and no code for it. */
  bringsToken: Type.Boolean(),
  /** Base64; encrypts what a login through a browser has to remember. */
  stateKey: Type.String(),
});
export type JwtConfig = Shaped<typeof jwtConfigShape>;

export const keySourcesOf = ({
  jwks,
  jwksPairs,
  oidcDiscovery,
}: JwtConfig): readonly KeySource[] => [
  ...(jwks === undefined ? [] : [{ kind: 'jwks', ...jwks } as const]),
  ...jwksPairs.map((pair) => ({ kind: 'jwks', ...pair }) as const),
  ...(oidcDiscovery === undefined ? [] : [{ kind: 'discovery', ...oidcDiscovery } as const]),
];

/**
 * The issuer that tokens must name; "" for any. A provider that was found by discovery is the issuer of its own
 * tokens, because some providers sign the tokens of all their customers with the same keys.
 */
export const issuerOf = ({ boundIssuer, oidcDiscovery }: JwtConfig): string =>
  boundIssuer === '' ? (oidcDiscovery?.url ?? '') : boundIssuer;

/** @throws KeelsonError `request.invalid` unless logins through a browser are configured as a whole or not at all */
export const requireSoundClient = (config: JwtConfig): JwtConfig => {
  const { oidcClientId, oidcClientSecret, oidcDiscovery } = config;
  if ((oidcClientId === '') !== (oidcClientSecret === ''))
    throw new KeelsonError('request.invalid', {
      text: "both 'oidc_client_id' and 'oidc_client_secret' must be set for OIDC",
    });
  if (oidcClientId !== '' && oidcDiscovery === undefined)
    throw new KeelsonError('request.invalid', {
      text: "'oidc_discovery_url' must be set for OIDC",
    });
  if (config.bringsToken && !config.postsForm)
    throw new KeelsonError('request.invalid', {
      text: "response_mode 'form_post' is required for response_type 'id_token'",
    });
  return config;
};

export const algorithmsOf = ({ supportedAlgs }: JwtConfig): readonly string[] =>
  supportedAlgs.length === 0 ? SIGNATURE_ALGORITHMS : supportedAlgs;

/** Runs have one algorithm, and no browser. @throws KeelsonError `request.invalid` */
export const requireNoKeysOfRuns = (config: JwtConfig): JwtConfig => {
  if (config.acceptsOwnRuns === true && config.supportedAlgs.length > 0)
    throw new KeelsonError('request.invalid', {
      text: "'jwt_supported_algs' cannot be set with 'keelson_runs'",
    });
  return config;
};

/** @throws KeelsonError `request.invalid` unless the keys come from one kind of place */
export const requireOneKindOfKeys = (config: JwtConfig): JwtConfig => {
  const kinds = [
    config.validationPubkeys.length > 0,
    config.jwks !== undefined,
    config.jwksPairs.length > 0,
    config.oidcDiscovery !== undefined,
    config.acceptsOwnRuns === true,
  ];
  if (kinds.filter(Boolean).length !== 1)
    throw new KeelsonError('request.invalid', {
      text: "exactly one of 'jwt_validation_pubkeys', 'jwks_url', 'jwks_pairs', 'oidc_discovery_url' or 'keelson_runs' must be set",
    });
  return config;
};
