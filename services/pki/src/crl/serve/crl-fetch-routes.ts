/** Fetching revocation lists, without a token (reference §5.6). */

import type { Clock } from '@keelson/clock';
import type { Route } from '@keelson/edge';
import { type MountScope, requireMount } from '@keelson/engine';
import { type DescribedAnswer, field, type Result, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import {
  type Freshness,
  publicAnswer,
  rawAnswer,
  STORED_CERTIFICATE,
  unmodifiedAnswer,
} from '../../certificates/raw-answer.ts';
import type { Authority, IssuerInUse } from '../../issuers/domain/authority.ts';
import type { Authorities } from '../../issuers/issuer-records.ts';
import type { CrlKind } from '../crl-records.ts';
import { type CurrentCrl, findCrl } from './crl-operations.ts';
import { crlPem } from './crl-pem.ts';

export interface CrlFetchParts {
  readonly store: Store;
  readonly authorities: Authorities;
  readonly clock: Clock;
}

const DER_TYPE = 'application/pkix-crl';
const PEM_TYPE = 'application/x-pem-file';

type Form = 'der' | 'pem' | 'json';

interface Place {
  readonly path: string;
  readonly kind: CrlKind;
  readonly form: Form;
  /** Lists of all clusters together. */
  readonly unified: boolean;
}

const places = (
  base: string,
  unified: boolean,
  forms: readonly (readonly [string, Form])[],
): readonly Place[] =>
  (['complete', 'delta'] as const).flatMap((kind) =>
    forms.map(([suffix, form]) => ({
      path: `${base}${kind === 'delta' ? '/delta' : ''}${suffix}`,
      kind,
      form,
      unified,
    })),
  );

const MOUNT_FORMS = [
  ['', 'der'],
  ['/pem', 'pem'],
] as const;
const ISSUER_FORMS = [
  ['', 'json'],
  ['/der', 'der'],
  ['/pem', 'pem'],
] as const;

const MOUNT_PLACES: readonly Place[] = [
  ...places('/crl', false, MOUNT_FORMS),
  ...places('/unified-crl', true, MOUNT_FORMS),
  { path: '/cert/crl', kind: 'complete', form: 'json', unified: false },
  { path: '/cert/delta-crl', kind: 'delta', form: 'json', unified: false },
  { path: '/cert/unified-crl', kind: 'complete', form: 'json', unified: true },
  { path: '/cert/unified-delta-crl', kind: 'delta', form: 'json', unified: true },
];

const ISSUER_PLACES: readonly Place[] = [
  ...places('/issuer/:issuer_ref/crl', false, ISSUER_FORMS),
  ...places('/issuer/:issuer_ref/unified-crl', true, ISSUER_FORMS),
];

interface Fetch {
  readonly mount: MountScope;
  readonly headers: Freshness['headers'];
  readonly place: Place;
  readonly issuerIn: (authority: Authority) => IssuerInUse | undefined;
}

const find = async (
  store: Store,
  { mount, place, issuerIn }: Fetch,
  authority: Authority,
): Promise<CurrentCrl | undefined> => {
  const issuer = issuerIn(authority);
  const { unifiedCrl, unifiedCrlOnExistingPaths } = authority.settings.crl;
  const isServed = issuer !== undefined && (!place.unified || unifiedCrl);
  const scope = unifiedCrl && (place.unified || unifiedCrlOnExistingPaths) ? 'all' : 'own';
  return isServed ? findCrl(store, mount, issuer, place.kind, scope) : undefined;
};

const fetchCrl = async (
  { store, authorities, clock }: CrlFetchParts,
  fetch: Fetch,
): Promise<Result> => {
  const { mount, place, headers } = fetch;
  const authority = await authorities.of(mount);
  const found = await find(store, fetch, authority);
  const freshness: Freshness = { headers, nowMs: clock.nowMs() };
  if (place.form === 'json') {
    if (found === undefined) return undefined;
    const unmodified = unmodifiedAnswer(freshness, found.storedAtMs);
    if (unmodified !== undefined) return unmodified;
    const pem = (await crlPem(found)).toString('latin1');
    return place.path.startsWith('/cert/')
      ? { data: { certificate: pem, revocation_time: 0, revocation_time_rfc3339: '' } }
      : { data: { crl: pem } };
  }
  const contentType = place.form === 'der' ? DER_TYPE : PEM_TYPE;
  if (found === undefined) return rawAnswer(contentType, undefined);
  return publicAnswer(freshness, {
    contentType,
    content: place.form === 'der' ? found.der : await crlPem(found),
    modifiedAtMs: found.storedAtMs,
    nextUpdateMs: found.nextUpdateMs,
  });
};

const answerOf = ({ form, path }: Place): DescribedAnswer => {
  if (form !== 'json') return { mediaType: form === 'der' ? DER_TYPE : PEM_TYPE };
  return path.startsWith('/cert/') ? STORED_CERTIFICATE : { data: { crl: { type: 'string' } } };
};

const summaryOf = ({ kind, form, unified }: Place): string =>
  `${unified ? 'Unified list' : 'List'}${kind === 'delta' ? ', delta' : ''}, ${form.toUpperCase()}`;

const ISSUER_FIELD = {
  issuer_ref: field.string({ default: '', description: 'Id or name of an issuer, or `default`.' }),
};

export const crlFetchRoutes = (parts: CrlFetchParts): Route[] => [
  ...MOUNT_PLACES.flatMap((place) =>
    secretsRoutes({
      path: place.path,
      tag: 'revocation',
      fields: {},
      operations: {
        read: {
          summary: `${summaryOf(place)}, of the default issuer`,
          answer: answerOf(place),
          handle: async (context) => {
            const mount = requireMount(context);
            const { headers } = context.head;
            const issuerIn = (authority: Authority) => authority.defaultIssuer;
            return fetchCrl(parts, { mount, headers, place, issuerIn });
          },
        },
      },
    }),
  ),
  ...ISSUER_PLACES.flatMap((place) =>
    secretsRoutes({
      path: place.path,
      tag: 'revocation',
      fields: ISSUER_FIELD,
      operations: {
        read: {
          summary: `${summaryOf(place)}, of an issuer`,
          answer: answerOf(place),
          handle: async (context) => {
            const mount = requireMount(context);
            const { headers } = context.head;
            const { issuer_ref: name } = context.fields;
            const issuerIn = (authority: Authority) => authority.requireIssuer(name);
            return fetchCrl(parts, { mount, headers, place, issuerIn });
          },
        },
      },
    }),
  ),
];
