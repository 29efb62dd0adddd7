/** The limits that an organization sets for the lifetime of tokens. */
import { refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { decideOrganizationPermissions } from '../access/domain/organization-permissions.ts';
import { requireOrganization, usesTooLongToken } from '../access/organization-access-operations.ts';
import type { Organization } from '../model/domain/organization.ts';
import { type LimitedTokenType, replaceLifetimes } from '../model/domain/token-lifetime.ts';
import { organizationRecords } from '../model/organization-records.ts';
import type { IdentityContext } from '../seams/identity-context.ts';

/**
 * The organization, if the caller may change its settings.
 * @throws KeelsonError `workspace.not_found`
 */
export const requireLimitedOrganization = async (
  reads: Reads,
  principal: Principal,
  name: string,
): Promise<Organization> => {
  const { organization, caller } = await requireOrganization(reads, principal, name);
  if (!decideOrganizationPermissions(caller).canUpdate) throw notFound('organization');
  return organization;
};

/**
 * Whoever limits the tokens comes with one that the limits accept, and would else shut the door from outside.
 * @param next the organization after the change
 * @param field of the request
 * @throws KeelsonError `jsonapi.invalid_attribute`
 */
export const requireOwnTokenWithin = async (
  reads: Reads,
  principal: Principal,
  next: Organization,
  field: string,
): Promise<void> => {
  if (!(await usesTooLongToken(reads, principal, next))) return;
  const text = 'would refuse the token of this request, which was made for longer';
  refuseInvalid([
    attributeViolation(field, `${field} ${text}: sign in, or use one that ends earlier`),
  ]);
};

/** Tokens that live too long are refused from the next request on. */
export const changeLifetimes = (
  { store, clock }: IdentityContext,
  principal: Principal,
  name: string,
  given: ReadonlyMap<LimitedTokenType, number>,
): Promise<Organization> =>
  store.transact(async (tx) => {
    const organization = await requireLimitedOrganization(tx, principal, name);
    const tokenLifetimes = replaceLifetimes(organization, given, clock.nowMs());
    const next: Organization = { ...organization, tokenLifetimes: [...tokenLifetimes] };
    await requireOwnTokenWithin(tx, principal, next, 'token-ttl-policies');
    await organizationRecords.write(tx, next.id, next);
    return next;
  });
