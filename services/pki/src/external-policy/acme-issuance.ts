/** ACME orders whose certificate the policy service decides (reference §8.5). */
import { KeelsonError } from '@keelson/errors';
import { toSerialKey } from '@keelson/x509';
import type { Account } from '../acme/accounts/domain/account.ts';
import type { IssuancePolicy, PolicyRequest } from '../acme/orders/domain/issuance-policy.ts';
import type { Order } from '../acme/orders/domain/order.ts';
import { AcmeProblem } from '../acme/problems/problem.ts';
import { decideCertificate, type PolicyParts } from './external-policy-operations.ts';
import { loadPolicyService } from './policy-service-records.ts';
import { entityDocument } from './requester-identity.ts';

const timeText = (epochMs: number): string => new Date(epochMs).toISOString();

const accountDocument = (id: string, account: Account) => ({
  id,
  directory: account.directory,
  contact: [...account.contacts],
  created_date: timeText(account.createdAtMs),
  ...(account.binding && {
    eab: {
      key_id: account.binding.keyId,
      key_type: account.binding.keyType,
      created_date: timeText(account.binding.createdAtMs),
    },
  }),
});

const authorizationDocuments = ({ authorizations }: Order) =>
  authorizations.map(({ identifier, wildcard, status, expiresAtMs, challenges }) => ({
    identifier: { ...identifier },
    wildcard,
    status,
    expires: timeText(expiresAtMs),
    challenges: challenges.map(({ type, status: outcome, validatedAtMs }) => ({
      type,
      status: outcome,
      ...(validatedAtMs !== undefined && { validated: timeText(validatedAtMs) }),
    })),
  }));

/** The requester is the caller who requested the binding; an account without one has no known requester. */
const identityIn = ({ binding }: Account) => {
  const bound = binding?.identity;
  return (service: Parameters<typeof entityDocument>[1]) =>
    bound &&
    entityDocument(
      { id: bound.entityId, name: bound.displayName, metadata: { ...bound.metadata } },
      service,
    );
};

const toProblem = (error: unknown): unknown =>
  error instanceof KeelsonError && error.code === 'pki.policy_refused'
    ? new AcmeProblem('rejectedIdentifier', error.message)
    : error;

export const createAcmeIssuance = (parts: PolicyParts): IssuancePolicy => ({
  isOffered: async (mount) => (await loadPolicyService(parts.store, mount)).enabled,
  issue: async (request: PolicyRequest) => {
    const { account, accountId, order } = request;
    try {
      const { made, issuer } = await decideCertificate(parts, {
        mount: request.mount,
        namespacePath: request.mount.namespacePath,
        policyName: request.policyName,
        issuerRef: request.issuerRef,
        maxTtlSeconds: request.maxTtlSeconds,
        mode: 'acme',
        csrDer: request.csrDer,
        publicKeyDer: request.csr.publicKeyDer,
        userValues: {},
        identityOf: identityIn(account),
        acme: {
          account: accountDocument(accountId, account),
          authorizations: authorizationDocuments(order),
        },
        // The order is completed whether or not its client waits.
        signal: new AbortController().signal,
      });
      const { der, serialNumber, notAfterMs } = made;
      return { der, serialKey: toSerialKey(serialNumber), notAfterMs, issuerId: issuer.issuer.id };
    } catch (error) {
      throw toProblem(error);
    }
  },
});
