import type { Route } from '@keelson/edge';
import {
  endpoint,
  itemsOn,
  jsonApiRoutes,
  many,
  pageOf,
  parsePage,
  refuseInvalid,
  resourceBody,
  toPaginatedDocument,
  withWarnings,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import type { Organization } from '../model/domain/organization.ts';
import {
  LIMITED_TOKEN_TYPES,
  type LimitedTokenType,
  LONGEST_LIMIT_MS,
  lifetimesOf,
  SHORTEST_LIMIT_MS,
} from '../model/domain/token-lifetime.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { toTokenLifetimeResource } from './token-lifetime-document.ts';
import { changeLifetimes, requireLimitedOrganization } from './token-lifetime-operations.ts';

const PATH = '/organizations/:organization_name/token-ttl-policies';
const FIELD = 'token-ttl-policies';

const UPDATE = resourceBody(
  'organization-token-ttl-policies',
  Type.Object({
    [FIELD]: Type.Array(
      Type.Object({
        'token-type': Type.Union(LIMITED_TOKEN_TYPES.map((type) => Type.Literal(type))),
        'max-ttl-ms': Type.Integer({ minimum: SHORTEST_LIMIT_MS, maximum: LONGEST_LIMIT_MS }),
      }),
      { minItems: 1, maxItems: LIMITED_TOKEN_TYPES.length },
    ),
  }),
);

interface Given {
  readonly 'token-type': LimitedTokenType;
  readonly 'max-ttl-ms': number;
}

/** @throws KeelsonError `jsonapi.invalid_attribute` if two limits are for the same kind of tokens */
const fromDocument = (given: readonly Given[]): ReadonlyMap<LimitedTokenType, number> => {
  const limits = new Map(given.map((limit) => [limit['token-type'], limit['max-ttl-ms']]));
  if (limits.size < given.length)
    refuseInvalid([attributeViolation(FIELD, `${FIELD} must name each token-type at most once`)]);
  return limits;
};

const toResources = (organization: Organization) =>
  lifetimesOf(organization).map((lifetime) => toTokenLifetimeResource(organization.id, lifetime));

const WITHOUT_SWITCH =
  'the limits have no effect until max-ttl-enabled of the organization is true';

const warningsOf = ({ settings }: Organization): readonly string[] =>
  settings.maxTtlEnabled ? [] : [WITHOUT_SWITCH];

export const tokenLifetimeRoutes = (context: IdentityContext): Route[] =>
  jsonApiRoutes('organizations', [
    endpoint({
      method: 'GET',
      path: PATH,
      summary: 'List how long the tokens of an organization may live',
      answers: pageOf('organization-token-ttl-policies'),
      handle: async ({ head, principal, params, query }) => {
        const name = params.organization_name;
        const organization = await requireLimitedOrganization(context.store, principal, name);
        const all = toResources(organization);
        const page = parsePage(query);
        const data = itemsOn(page, all);
        return { document: toPaginatedDocument(head, { data, page, totalCount: all.length }) };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: PATH,
      summary: 'Change how long the tokens of an organization may live',
      answers: many('organization-token-ttl-policies'),
      body: { schema: UPDATE },
      handle: async ({ principal, params, body }) => {
        const given = fromDocument(body.data.attributes[FIELD]);
        const name = params.organization_name;
        const organization = await changeLifetimes(context, principal, name, given);
        const warnings = warningsOf(organization);
        return { document: { data: toResources(organization), ...withWarnings(warnings) } };
      },
    }),
  ]);
