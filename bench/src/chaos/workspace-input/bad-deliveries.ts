/** Deliveries of webhooks, forged, damaged or sent twice, in the forms of all providers. */
import { createHmac, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import {
  byteDamage,
  documentDamage,
  nestedText,
  once,
  oneIn,
  textDamage,
  usually,
  weighted,
} from '../malformed.ts';

/** How one provider signs and names what it sends. */
export interface ProviderForm {
  readonly serviceProvider: string;
  /** Headers by which the provider shows that it knows the secret. */
  readonly sign: (body: Uint8Array, secret: string) => Readonly<Record<string, string>>;
  readonly eventHeader: string;
  readonly deliveryHeader: string;
  readonly pushEvent: string;
  readonly otherEvents: readonly string[];
  readonly push: (branch: string, sha: string) => object;
}

const digest = (body: Uint8Array, secret: string): string =>
  createHmac('sha256', secret).update(body).digest('hex');
const NO_COMMIT = '0'.repeat(40);
const SENDER = { login: 'ada', avatar_url: null, html_url: 'https://provider.example/ada' };
const ofGitHub = (branch: string, sha: string) => ({
  ref: `refs/heads/${branch}`,
  before: NO_COMMIT,
  after: sha,
  compare: 'https://provider.example/compare',
  commits: [{ id: sha, added: ['main.tf'], removed: [], modified: [] }],
  sender: SENDER,
});

export const PROVIDER_FORMS: readonly ProviderForm[] = [
  {
    serviceProvider: 'github',
    sign: (body, secret) => ({ 'x-hub-signature-256': `sha256=${digest(body, secret)}` }),
    eventHeader: 'x-github-event',
    deliveryHeader: 'x-github-delivery',
    pushEvent: 'push',
    otherEvents: ['ping', 'issues', 'pull_request', '', 'PUSH', 'push,push'],
    push: ofGitHub,
  },
  {
    serviceProvider: 'gitea',
    sign: (body, secret) => ({ 'x-gitea-signature': digest(body, secret) }),
    eventHeader: 'x-gitea-event',
    deliveryHeader: 'x-gitea-delivery',
    pushEvent: 'push',
    otherEvents: ['create', 'pull_request', '__proto__'],
    push: ofGitHub,
  },
  {
    serviceProvider: 'gitlab_hosted',
    sign: (_body, secret) => ({ 'x-gitlab-token': secret }),
    eventHeader: 'x-gitlab-event',
    deliveryHeader: 'x-gitlab-event-uuid',
    pushEvent: 'Push Hook',
    otherEvents: ['Tag Push Hook', 'Merge Request Hook', 'Note Hook', 'push'],
    push: (branch, sha) => ({
      object_kind: 'push',
      ref: `refs/heads/${branch}`,
      before: NO_COMMIT,
      after: sha,
      checkout_sha: sha,
      user_username: 'ada',
      user_avatar: null,
    }),
  },
  {
    serviceProvider: 'bitbucket_hosted',
    sign: (body, secret) => ({ 'x-hub-signature': `sha256=${digest(body, secret)}` }),
    eventHeader: 'x-event-key',
    deliveryHeader: 'x-request-uuid',
    pushEvent: 'repo:push',
    otherEvents: ['pullrequest:created', 'repo:fork', 'constructor'],
    push: (branch, sha) => ({
      push: {
        changes: [{ new: { type: 'branch', name: branch, target: { hash: sha } }, old: null }],
      },
      actor: { nickname: 'ada' },
    }),
  },
  {
    serviceProvider: 'bitbucket_data_center',
    sign: (body, secret) => ({ 'x-hub-signature': `sha256=${digest(body, secret)}` }),
    eventHeader: 'x-event-key',
    deliveryHeader: 'x-request-id',
    pushEvent: 'repo:refs_changed',
    otherEvents: ['pr:opened', 'diagnostics:ping'],
    push: (branch, sha) => ({
      actor: { name: 'ada' },
      changes: [
        { ref: { id: `refs/heads/${branch}` }, fromHash: NO_COMMIT, toHash: sha, type: 'UPDATE' },
      ],
    }),
  },
];

/** A webhook of the tried cluster, and the commit that a delivery would have to bring. */
export interface KnownHook {
  readonly form: ProviderForm;
  readonly path: string;
  readonly secret: string;
  /** Pushed to the branch that the workspace follows, and delivered by nobody. */
  readonly waitingSha: string;
}

export interface BadDelivery {
  readonly kind: 'forged' | 'unknown' | 'damaged' | 'other event' | 'another branch' | 'oversized';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Whether it is sent a second time if it is accepted. */
  readonly isRepeated: boolean;
}

const OVERSIZED_BYTES = 5 * 1024 * 1024 + 1;

const CONTENT_TYPES = [
  'application/json',
  'application/json; charset=utf-16',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=a',
  'text/html',
  'application/vnd.api+json',
  'x',
];

const fromText = (text: string): Uint8Array => Buffer.from(text);
const toBytes = (document: unknown): Uint8Array => fromText(JSON.stringify(document) ?? '');

/** Bodies that are no event of the provider, or might just be one. */
const damagedBody = (payload: object): fc.Arbitrary<Uint8Array> => {
  const text = JSON.stringify(payload);
  const form = `payload=${encodeURIComponent(text)}`;
  const others = fc.constantFrom(form, `\uFEFF${text}`, '', 'null', '[]', '"push"', '1e999');
  return weighted<Uint8Array>(
    [5, documentDamage.map((damage) => toBytes(damage(payload)))],
    [2, byteDamage.map((damage) => damage(Buffer.from(text)))],
    [
      3,
      fc
        .oneof(
          textDamage.map((damage) => damage(text)),
          nestedText,
          others,
        )
        .map(fromText),
    ],
    [1, fc.constantFrom(Buffer.from(text, 'utf16le'), gzipSync(text))],
  );
};

type Sign = (body: Uint8Array) => Readonly<Record<string, string>>;

/** Headers by which somebody without the secret might pass. */
const forgedSign = (hook: KnownHook, hooks: readonly KnownHook[]): fc.Arbitrary<Sign> => {
  const { form, secret } = hook;
  const changed =
    (change: (value: string) => string): Sign =>
    (body) =>
      Object.fromEntries(
        Object.entries(form.sign(body, secret)).map(([name, value]) => [name, change(value)]),
      );
  const others = hooks.filter((one) => one !== hook);
  const wrong = fc.constantFrom<Sign[]>(
    () => ({}),
    (body) => form.sign(body, ''),
    changed((value) => value.slice(0, -1)),
    changed((value) => `${value}0`),
    // Two headers of one name are one value for the service.
    changed((value) => `${value}, ${value}`),
    // Right for another body; GitLab signs no body.
    form.serviceProvider.startsWith('gitlab')
      ? changed((value) => value.toUpperCase().concat('!'))
      : (body) => form.sign(Buffer.concat([body, Buffer.from(' ')]), secret),
  );
  const values = fc.constantFrom('', 'sha256=', 'sha1=', 'undefined', '0', 'x'.repeat(8000));
  return weighted<Sign>(
    [6, wrong],
    [1, fc.constantFrom(...others).map((other) => (body) => form.sign(body, other.secret))],
    [1, values.map((value) => changed(() => value))],
  );
};

const deliveriesOf = (hook: KnownHook, hooks: readonly KnownHook[]): fc.Arbitrary<BadDelivery> => {
  const { form, secret, waitingSha } = hook;
  const right = fc.constant<Sign>((body) => form.sign(body, secret));
  const push = fc.constant(form.pushEvent);
  const made = (
    kind: BadDelivery['kind'],
    body: fc.Arbitrary<Uint8Array>,
    { event = push, sign = right, path = fc.constant(hook.path) } = {},
  ): fc.Arbitrary<BadDelivery> =>
    fc
      .record({
        body,
        event,
        sign,
        path,
        contentType: usually('application/json', 8, CONTENT_TYPES),
        isRepeated: once(4),
      })
      .map((given) => ({
        kind,
        path: given.path,
        body: given.body,
        isRepeated: given.isRepeated,
        headers: {
          'content-type': given.contentType,
          [form.eventHeader]: given.event,
          // Used by no other delivery, also while a failure is shrunk.
          [form.deliveryHeader]: randomUUID(),
          ...given.sign(given.body),
        },
      }));
  const payload = form.push('main', waitingSha);
  const genuine = fc.constant(toBytes(payload));
  // Damaged deliveries must not become a push to the branch of the workspace, which would be one.
  const elsewhere = form.push('', NO_COMMIT);
  const another = fc.nat().map(() => toBytes({ ...elsewhere, zen: randomUUID() }));
  const topic = fc.nat().map(() => toBytes(form.push(`topic-${randomUUID()}`, waitingSha)));
  const oversized = fc.constant(Buffer.alloc(OVERSIZED_BYTES, ' '));
  const path = fc
    .constantFrom('whk-none', '', '%00', '..%2f', 'x'.repeat(900), '__proto__')
    .map((id) => `/webhooks/repositories/${id}`);
  return weighted(
    [
      2500,
      made('forged', oneIn(4, damagedBody(payload), genuine), { sign: forgedSign(hook, hooks) }),
    ],
    [1250, made('damaged', damagedBody(elsewhere))],
    [625, made('other event', another, { event: fc.constantFrom(...form.otherEvents) })],
    [625, made('unknown', genuine, { path })],
    [5, made('oversized', oversized)],
    // Leads to work of git: more of them would wait longer than the trial takes.
    [1, made('another branch', topic)],
  );
};

export const badDeliveries = (hooks: readonly KnownHook[]): fc.Arbitrary<BadDelivery> =>
  fc.oneof(...hooks.map((hook) => deliveriesOf(hook, hooks)));
