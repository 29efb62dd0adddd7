/** Accounts over HTTP (RFC 8555 §7.3). */

import type { AcmeAnswer } from '../answers/acme-answer.ts';
import { type AcmeRequest } from '../directories/open-resource.ts';
import { AcmeProblem, malformed } from '../problems/problem.ts';
import { accountDocument } from './account-document.ts';
import {
  type AccountParts,
  changeAccountKey,
  deactivateAccount,
  type KnownAccount,
  openAccount,
  updateAccount,
} from './account-operations.ts';
import { parseContacts } from './domain/account.ts';
import { acceptKeyChange } from './domain/key-change.ts';
import { acceptTerms, mayAgreeAgain, type Terms } from './domain/terms-of-service.ts';
import { parsePayload, type SignedRequest, signerOf } from './signed-request.ts';
import { type SignedResource } from './signed-resource.ts';

type Parts = AccountParts & { readonly terms: Terms };

/**
 * The account in the path, which must be the one that signed.
 * @throws AcmeProblem `unauthorized`, `malformed`
 */
export const requireOwnAccount = ({ params }: AcmeRequest, signed: SignedRequest): KnownAccount => {
  const signer = signerOf(signed);
  if (signer.id !== params['account_id'])
    throw new AcmeProblem('unauthorized', 'the request is signed by another account');
  return signer;
};

const booleanOf = (value: unknown, name: string): boolean => {
  if (value === undefined) return false;
  if (typeof value !== 'boolean') throw malformed(`"${name}" must be true or false`);
  return value;
};

const newAccount = async (
  parts: Parts,
  { directory }: AcmeRequest,
  signed: SignedRequest,
): Promise<AcmeAnswer> => {
  const { jwk, url } = signed;
  const body = parsePayload(signed);
  const { id, account, isNew } = await openAccount(parts, {
    mount: directory.mount,
    directory: directory.path,
    newAccountUrl: url,
    eabPolicy: directory.config.eabPolicy,
    key: jwk,
    requested: () => ({
      contacts: parseContacts(body['contact']) ?? [],
      ...acceptTerms(parts.terms, booleanOf(body['termsOfServiceAgreed'], 'termsOfServiceAgreed')),
    }),
    onlyReturnExisting: booleanOf(body['onlyReturnExisting'], 'onlyReturnExisting'),
    externalAccountBinding: body['externalAccountBinding'],
  });
  return {
    status: isNew ? 201 : 200,
    location: directory.urls.account(id),
    body: accountDocument(directory.urls, id, account),
  };
};

const changeAccount = async (
  parts: Parts,
  request: AcmeRequest,
  signed: SignedRequest,
): Promise<AcmeAnswer> => {
  const { id, account } = requireOwnAccount(request, signed);
  const { mount, urls } = request.directory;
  const show = (current: typeof account): AcmeAnswer => ({
    location: urls.account(id),
    body: accountDocument(urls, id, current),
  });
  if (signed.payload === '') return show(account);
  const { status, contact, termsOfServiceAgreed } = parsePayload(signed);
  const contacts = parseContacts(contact);
  if (status === 'deactivated') return show(await deactivateAccount(parts, mount, id));
  // The only way to agree to terms introduced after the account was created
  // (docs/divergences/acme.md).
  const agrees = termsOfServiceAgreed === true && mayAgreeAgain(parts.terms, account);
  const termsUrl = agrees ? parts.terms.url : undefined;
  // RFC 8555 §7.3.2: any other status is ignored, like all unknown members; absent members are unchanged.
  return show(
    contacts === undefined && termsUrl === undefined
      ? account
      : await updateAccount(parts, mount, id, { contacts, termsUrl }),
  );
};

const changeKey = async (
  parts: Parts,
  { directory }: AcmeRequest,
  signed: SignedRequest,
): Promise<AcmeAnswer> => {
  const { mount, urls } = directory;
  const signer = signerOf(signed);
  const newKey = acceptKeyChange(signed.payload, {
    url: signed.url,
    accountUrl: urls.account(signer.id),
    thumbprint: signer.account.thumbprint,
  });
  const outcome = await changeAccountKey(parts, mount, signer, newKey);
  if (outcome.kind === 'taken')
    throw malformed('an account has this key already', {
      status: 409,
      location: urls.account(outcome.accountId),
    });
  return {
    location: urls.account(signer.id),
    body: accountDocument(urls, signer.id, outcome.account),
  };
};

export const accountResources = (parts: Parts): readonly SignedResource[] => [
  {
    path: 'new-account',
    summary: 'Create an account, or find it by its key (RFC 8555 §7.3)',
    signer: 'key',
    handle: (request, signed) => newAccount(parts, request, signed),
  },
  {
    path: 'account/:account_id',
    summary: 'Read, change or close an account (RFC 8555 §7.3.2)',
    signer: 'account',
    handle: (request, signed) => changeAccount(parts, request, signed),
  },
  {
    path: 'key-change',
    summary: 'Give an account another key (RFC 8555 §7.3.5)',
    signer: 'account',
    handle: (request, signed) => changeKey(parts, request, signed),
  },
];
