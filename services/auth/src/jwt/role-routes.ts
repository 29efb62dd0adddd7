/** `role`: which tokens of the provider may sign in, and what the login has. */
import type { Route } from '@keelson/edge';
import { type FieldValues, field, type JsonObject } from '@keelson/secrets-api';
import { namedRoutes } from '../logins/named-routes.ts';
import {
  changedTokenSettings,
  OLDER_TOKEN_FIELDS,
  olderTokenDocument,
  TOKEN_FIELDS,
  tokenSettingsDocument,
} from '../logins/token-fields.ts';
import type { JwtContext } from './config-operations.ts';
import {
  BOUND_CLAIMS_TYPES,
  CALLBACK_MODES,
  type JwtRole,
  NEW_JWT_ROLE,
  ROLE_TYPES,
  requireSoundRole,
  toBoundClaims,
} from './domain/jwt-role.ts';
import { roleRecords } from './jwt-records.ts';

const TAG = 'jwt';
const MAX_POLL_INTERVAL = 60;
const LIST = { maxLength: 16_384 } as const;
const CLAIM = { maxLength: 1024 } as const;

const ROLE_FIELDS = {
  role_type: field.string({
    description:
      'How a login proves itself: "jwt" by a token of the provider, "oidc" (default) through a browser.',
    check: (type) =>
      type === '' || type === 'jwt' || type === 'oidc' ? undefined : `invalid 'role_type': ${type}`,
    maxLength: 16,
  }),
  allowed_redirect_uris: field.commaList({
    description:
      'Where the browser may return to; of addresses of the own machine, the port may differ.',
    ...LIST,
    check: (uris) =>
      uris.every((uri) => URL.canParse(uri) && new URL(uri).hash === '')
        ? undefined
        : 'allowed_redirect_uris must be a list of absolute URIs without a fragment',
  }),
  oidc_scopes: field.commaList({
    description: 'Scopes that a login through a browser asks for, in addition to openid.',
    ...LIST,
  }),
  callback_mode: field.string({
    description:
      'Where the browser returns to: "client" (default) to the program that began the login, "direct" to Keelson, "device" nowhere, as its user types a code at the provider. The program then asks for the result.',
    check: (mode) =>
      mode === '' || CALLBACK_MODES.some((one) => one === mode)
        ? undefined
        : `invalid 'callback_mode': ${mode}`,
    maxLength: 16,
  }),
  poll_interval: field.integer({
    description:
      'Seconds between the questions of a program for the result, up to 60; 0: as the provider says, or 5.',
    check: (seconds) =>
      seconds >= 0 && seconds <= MAX_POLL_INTERVAL
        ? undefined
        : `poll_interval must be an integer from 0 to ${MAX_POLL_INTERVAL}`,
  }),
  oidc_disable_confirmation: field.bool({
    description:
      'Whether the browser of a direct login is not asked if its user has begun it, so that a link is enough to sign another in.',
  }),
  bound_audiences: field.commaList({
    description: 'The token must be for one of these (aud). Empty: for nobody in particular.',
    ...LIST,
  }),
  bound_subject: field.string({ description: 'Subject of the token (sub).', ...CLAIM }),
  bound_claims: field.map({
    description: 'Values that claims must have, by name or JSON pointer; of a list, one of them.',
    ...LIST,
  }),
  bound_claims_type: field.string({
    description:
      'How bound_claims are compared: "string" (default) or "glob", in which * is any text.',
    check: (given) =>
      BOUND_CLAIMS_TYPES.some((type) => type === given)
        ? undefined
        : `invalid 'bound_claims_type': ${given}`,
    maxLength: 16,
  }),
  claim_mappings: field.stringMap({
    description: "Keys of the token's metadata by the claims that yield them.",
    ...LIST,
  }),
  user_claim: field.string({ description: 'Claim that names the user.', ...CLAIM }),
  user_claim_json_pointer: field.bool({ description: 'Whether user_claim is a JSON pointer.' }),
  groups_claim: field.string({
    description:
      'Claim that the token must have as a list of groups, which may be aliases of groups.',
    ...CLAIM,
  }),
  expiration_leeway: field.signedDurationSeconds({
    description:
      'From the begin of a token without exp to its end; 0: 150 seconds, negative: none.',
  }),
  not_before_leeway: field.signedDurationSeconds({
    description: 'From the begin of a token with exp alone to exp; 0: 150 seconds, negative: none.',
  }),
  clock_skew_leeway: field.signedDurationSeconds({
    description: 'By which clocks may differ; 0: 60 seconds, negative: not at all.',
  }),
  ...TOKEN_FIELDS,
  ...OLDER_TOKEN_FIELDS,
} as const;

type Given = FieldValues<typeof ROLE_FIELDS>;

const roleDocument = (role: JwtRole): JsonObject => ({
  role_type: role.roleType,
  allowed_redirect_uris: role.allowedRedirectUris,
  oidc_scopes: role.oidcScopes,
  callback_mode: role.callbackMode,
  poll_interval: role.pollIntervalSeconds,
  oidc_disable_confirmation: role.skipsConfirmation,
  bound_audiences: role.boundAudiences,
  bound_subject: role.boundSubject,
  bound_claims: role.boundClaims,
  bound_claims_type: role.boundClaimsType,
  claim_mappings: role.claimMappings,
  user_claim: role.userClaim,
  user_claim_json_pointer: role.userClaimJsonPointer,
  groups_claim: role.groupsClaim,
  expiration_leeway: role.expirationLeewaySeconds,
  not_before_leeway: role.notBeforeLeewaySeconds,
  clock_skew_leeway: role.clockSkewLeewaySeconds,
  ...tokenSettingsDocument(role.token),
  ...olderTokenDocument(role.token),
});

const withSettings =
  (given: Given) =>
  (role: JwtRole): JwtRole => {
    return {
      // Without a type, clients mean "oidc".
      roleType:
        given.role_type === ''
          ? 'oidc'
          : (ROLE_TYPES.find((type) => type === given.role_type) ?? role.roleType),
      allowedRedirectUris: [...(given.allowed_redirect_uris ?? role.allowedRedirectUris)],
      oidcScopes: [...(given.oidc_scopes ?? role.oidcScopes)],
      callbackMode:
        given.callback_mode === ''
          ? 'client'
          : (CALLBACK_MODES.find((mode) => mode === given.callback_mode) ?? role.callbackMode),
      pollIntervalSeconds: given.poll_interval ?? role.pollIntervalSeconds,
      skipsConfirmation: given.oidc_disable_confirmation ?? role.skipsConfirmation,
      boundAudiences: [...(given.bound_audiences ?? role.boundAudiences)],
      boundSubject: given.bound_subject ?? role.boundSubject,
      boundClaims: given.bound_claims ? toBoundClaims(given.bound_claims) : role.boundClaims,
      boundClaimsType:
        BOUND_CLAIMS_TYPES.find((type) => type === given.bound_claims_type) ?? role.boundClaimsType,
      claimMappings: given.claim_mappings ?? role.claimMappings,
      userClaim: given.user_claim ?? role.userClaim,
      userClaimJsonPointer: given.user_claim_json_pointer ?? role.userClaimJsonPointer,
      groupsClaim: given.groups_claim ?? role.groupsClaim,
      expirationLeewaySeconds: given.expiration_leeway ?? role.expirationLeewaySeconds,
      notBeforeLeewaySeconds: given.not_before_leeway ?? role.notBeforeLeewaySeconds,
      clockSkewLeewaySeconds: given.clock_skew_leeway ?? role.clockSkewLeewaySeconds,
      token: changedTokenSettings(role.token, given),
    };
  };

export const roleRoutes = ({ store }: JwtContext): Route[] =>
  namedRoutes({
    path: '/jwt/role',
    tag: TAG,
    noun: 'role',
    deletion: 'tokens of its logins can no longer be renewed',
    store,
    recordsAt: roleRecords,
    fields: ROLE_FIELDS,
    change: (before, given) => requireSoundRole(withSettings(given)(before ?? NEW_JWT_ROLE)),
    document: roleDocument,
  });
