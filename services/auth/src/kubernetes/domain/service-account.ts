/** Service accounts of Kubernetes: what a token says of its account, and whether the API server confirms it. */
import { type Claims, memberOf } from '../../providers/domain/claims.ts';

export interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The secret that has the token; "" for a token that expires. */
  readonly secretName: string;
}

const NAMESPACE = /^[a-z0-9-]{1,63}$/;
const NAME = /^[a-z0-9.-]{1,253}$/;
const UID = /^[\w-]{1,128}$/;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Claims of tokens that expire. */
const currentForm = (claims: Claims): ServiceAccount => {
  const all = memberOf(claims, 'kubernetes.io');
  const account = memberOf(all, 'serviceaccount');
  return {
    namespace: textOf(memberOf(all, 'namespace')),
    name: textOf(memberOf(account, 'name')),
    uid: textOf(memberOf(account, 'uid')),
    secretName: textOf(memberOf(memberOf(all, 'secret'), 'name')),
  };
};

/** Claims of tokens that are stored in secrets. */
const olderForm = (claims: Claims): ServiceAccount => {
  const claim = (name: string): string =>
    textOf(memberOf(claims, `kubernetes.io/serviceaccount/${name}`));
  return {
    namespace: claim('namespace'),
    name: claim('service-account.name'),
    uid: claim('service-account.uid'),
    secretName: claim('secret.name'),
  };
};

/** The account that a token names; undefined for a token of anybody else. */
export const accountIn = (claims: Claims): ServiceAccount | undefined => {
  const account =
    memberOf(claims, 'kubernetes.io') === undefined ? olderForm(claims) : currentForm(claims);
  const { namespace, name, uid, secretName } = account;
  const isSound =
    NAMESPACE.test(namespace) &&
    NAME.test(name) &&
    UID.test(uid) &&
    (secretName === '' || NAME.test(secretName));
  return isSound ? account : undefined;
};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Whether a token is meant for an audience. @param audience "" for any */
export const isForAudience = (claims: Claims, audience: string): boolean =>
  audience === '' || [memberOf(claims, 'aud')].flat().includes(audience);

/**
 * Compares the answer of the API server (TokenReview) with the account that the token names.
 * @param audience for which the token was reviewed; "" for that of the API server
 * @returns why the account is not confirmed
 */
export const reviewComplaint = (
  review: Claims,
  account: ServiceAccount,
  audience: string,
): string | undefined => {
  const status = memberOf(review, 'status');
  const user = memberOf(status, 'user');
  if (memberOf(status, 'authenticated') !== true || textOf(memberOf(status, 'error')) !== '')
    return 'the API server does not accept the token';
  if (
    memberOf(user, 'username') !== `system:serviceaccount:${account.namespace}:${account.name}` ||
    memberOf(user, 'uid') !== account.uid
  )
    return 'the API server names another user than the token';
  // A server that knows no audiences ignores the question, and says so by naming none.
  if (audience !== '' && !listOf(memberOf(status, 'audiences')).includes(audience))
    return 'the API server does not confirm the audience';
  return undefined;
};
