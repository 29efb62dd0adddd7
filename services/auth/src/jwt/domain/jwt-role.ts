/** Roles: which tokens of the provider may sign in, and what the login has. */
import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { DEFAULT_TOKEN_SETTINGS, tokenSettingsShape } from '../../logins/domain/token-settings.ts';

export const BOUND_CLAIMS_TYPES = ['string', 'glob'] as const;

const scalarShape = Type.Union([Type.String(), Type.Number(), Type.Boolean()]);
const boundClaimShape = Type.Union([scalarShape, Type.Array(scalarShape)]);
type BoundClaim = Shaped<typeof boundClaimShape>;

/** Leeways are in seconds: 0 means the default, less than 0 none. */
export const ROLE_TYPES = ['jwt', 'oidc'] as const;

/** `client`: a program that waits for the browser; `direct`: Keelson; `device`: the page of the provider for devices. */
export const CALLBACK_MODES = ['client', 'direct', 'device'] as const;
export type CallbackMode = (typeof CALLBACK_MODES)[number];

export const jwtRoleShape = Type.Object({
  roleType: Type.Enum(ROLE_TYPES),
  /** Where the browser may return to. */
  allowedRedirectUris: Type.Array(Type.String()),
  oidcScopes: Type.Array(Type.String()),
  callbackMode: Type.Enum(CALLBACK_MODES),
  /** 0: as the provider says. */
  pollIntervalSeconds: Type.Integer(),
  /** Whether the browser of a direct login is not asked if its user has begun it. */
  skipsConfirmation: Type.Boolean(),
  boundAudiences: Type.Array(Type.String()),
  boundSubject: Type.String(),
  boundClaims: Type.Record(Type.String(), boundClaimShape),
  boundClaimsType: Type.Enum(BOUND_CLAIMS_TYPES),
  /** Keys of the token's metadata by the claims that yield them. */
  claimMappings: Type.Record(Type.String(), Type.String()),
  userClaim: Type.String(),
  userClaimJsonPointer: Type.Boolean(),
  groupsClaim: Type.String(),
  expirationLeewaySeconds: Type.Number(),
  notBeforeLeewaySeconds: Type.Number(),
  clockSkewLeewaySeconds: Type.Number(),
  token: tokenSettingsShape,
});
export type JwtRole = Shaped<typeof jwtRoleShape>;

export const NEW_JWT_ROLE: JwtRole = {
  roleType: 'oidc',
  allowedRedirectUris: [],
  oidcScopes: [],
  callbackMode: 'client',
  pollIntervalSeconds: 0,
  skipsConfirmation: false,
  boundAudiences: [],
  boundSubject: '',
  boundClaims: {},
  boundClaimsType: 'string',
  claimMappings: {},
  userClaim: '',
  userClaimJsonPointer: false,
  groupsClaim: '',
  expirationLeewaySeconds: 0,
  notBeforeLeewaySeconds: 0,
  clockSkewLeewaySeconds: 0,
  token: DEFAULT_TOKEN_SETTINGS,
};

/** The name under which the metadata of each login has its role. */
const ROLE_KEY = 'role';

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

/** @throws KeelsonError `request.invalid` for a value that no claim is compared with, such as an object */
export const toBoundClaims = (
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, BoundClaim>> =>
  Object.fromEntries(
    Object.entries(given).map(([claim, value]) => {
      if (isScalar(value) || (Array.isArray(value) && value.every(isScalar)))
        return [claim, value] as const;
      return refuse(`bound claim "${claim}" is not a string or list`);
    }),
  );

const requireSoundMappings = ({ claimMappings }: JwtRole): void => {
  const keys = Object.values(claimMappings);
  if (keys.includes(ROLE_KEY))
    refuse(`metadata key "${ROLE_KEY}" is reserved and may not be a mapping destination`);
  const repeated = keys.find((key, index) => keys.indexOf(key) !== index);
  if (repeated !== undefined) refuse(`multiple keys are mapped to metadata key "${repeated}"`);
};

const requireSoundClaims = ({ boundClaims, boundClaimsType }: JwtRole): void => {
  if (boundClaimsType !== 'glob') return;
  for (const [claim, bound] of Object.entries(boundClaims))
    if ([bound].flat().some((value) => typeof value !== 'string'))
      refuse(`bound claim "${claim}" must be a string or a list of strings, as it is a pattern`);
};

/** @throws KeelsonError `request.invalid` for a role that every token of the provider would satisfy, or none could */
export const requireSoundRole = (role: JwtRole): JwtRole => {
  if (role.userClaim === '') refuse('a user claim must be defined on the role');
  requireSoundMappings(role);
  requireSoundClaims(role);
  if (role.roleType === 'oidc')
    return role.allowedRedirectUris.length > 0 || role.callbackMode === 'device'
      ? role
      : refuse("'allowed_redirect_uris' must be set if 'role_type' is 'oidc' or unspecified");
  const isBound =
    role.boundAudiences.length > 0 ||
    role.boundSubject !== '' ||
    Object.keys(role.boundClaims).length > 0 ||
    role.token.boundCidrs.length > 0;
  return isBound
    ? role
    : refuse('must have at least one bound constraint when creating/updating a role');
};
