/** Deliveries of webhooks, forged, damaged or sent twice, in the forms of all providers. */
import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Random } from '../random.ts';
import { damageBytes, damageText, damageValue, nested } from './damaged-documents.ts';

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
}

const OVERSIZED_BYTES = 5 * 1024 * 1024 + 1;
/** Each leads to work of git: more of them would wait longer than the trial takes. */
const ANOTHER_BRANCH_IN = 5000;
const OVERSIZED_IN = 1000;

const CONTENT_TYPES = [
  'application/json',
  'application/json; charset=utf-16',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=a',
  'text/html',
  'application/vnd.api+json',
  'x',
];

const toBytes = (document: unknown): Uint8Array => Buffer.from(JSON.stringify(document) ?? '');

/** A body that is no event of the provider, or might just be one. */
const damage = (payload: object, random: Random): Uint8Array => {
  const text = JSON.stringify(payload);
  switch (random.below(10)) {
    case 0:
      return Buffer.from(text.slice(0, random.below(text.length)));
    case 1:
      return damageBytes(Buffer.from(text), random);
    case 2:
      return Buffer.from(damageText(text, random));
    case 3:
      return Buffer.from(nested(random));
    case 4:
      return random.pick([
        Buffer.from(`payload=${encodeURIComponent(text)}`),
        Buffer.from(text, 'utf16le'),
        Buffer.from(`\uFEFF${text}`),
        gzipSync(text),
        Buffer.from(''),
        Buffer.from('null'),
        Buffer.from('[]'),
        Buffer.from('"push"'),
        Buffer.from('1e999'),
      ]);
    default:
      return toBytes(damageValue(payload, random));
  }
};

/** Headers by which somebody without the secret might pass. */
const forge = (
  hook: KnownHook,
  others: readonly KnownHook[],
  body: Uint8Array,
  random: Random,
): Readonly<Record<string, string>> => {
  const { form, secret } = hook;
  const right = form.sign(body, secret);
  const [[name, value] = ['', '']] = Object.entries(right);
  const wrong = others.filter((one) => one !== hook);
  switch (random.below(8)) {
    case 0:
      return {};
    case 1:
      return form.sign(body, random.pick(wrong).secret);
    case 2:
      return form.sign(body, '');
    case 3:
      return { [name]: value.slice(0, -1) };
    case 4:
      return { [name]: `${value}0` };
    case 5:
      return { [name]: random.pick(['', 'sha256=', 'sha1=', 'undefined', '0', 'x'.repeat(8000)]) };
    case 6:
      // Two headers of one name are one value for the service.
      return { [name]: `${value}, ${value}` };
    default:
      // Right for another body; GitLab signs no body.
      return form.serviceProvider.startsWith('gitlab')
        ? { [name]: secret.toUpperCase().concat('!') }
        : form.sign(Buffer.concat([body, Buffer.from(' ')]), secret);
  }
};

/** Uses a header of the protocol, an id that nobody has used, and the given event. */
const address = (
  { form, path }: KnownHook,
  signature: Readonly<Record<string, string>>,
  event: string,
  random: Random,
): Pick<BadDelivery, 'path' | 'headers'> => ({
  path,
  headers: {
    'content-type': random.once(8) ? random.pick(CONTENT_TYPES) : 'application/json',
    [form.eventHeader]: event,
    [form.deliveryHeader]: Buffer.from(random.bytes(12)).toString('hex'),
    ...signature,
  },
});

export const badDelivery = (hooks: readonly KnownHook[], random: Random): BadDelivery => {
  const hook = random.pick(hooks);
  const { form, waitingSha } = hook;
  const payload = form.push('main', waitingSha);
  const signed = (kind: BadDelivery['kind'], body: Uint8Array, event: string): BadDelivery => ({
    ...address(hook, form.sign(body, hook.secret), event, random),
    kind,
    body,
  });
  if (random.once(OVERSIZED_IN))
    return signed('oversized', Buffer.alloc(OVERSIZED_BYTES, ' '), form.pushEvent);
  if (random.once(ANOTHER_BRANCH_IN)) {
    const unknown = form.push(`topic-${random.below(2 ** 32)}`, waitingSha);
    return signed('another branch', toBytes(unknown), form.pushEvent);
  }
  // Damaged deliveries must not become a push to the branch of the workspace, which would be one.
  const elsewhere = form.push('', NO_COMMIT);
  switch (random.below(8)) {
    case 0:
    case 1:
      return signed('damaged', damage(elsewhere, random), form.pushEvent);
    case 2:
      return signed(
        'other event',
        toBytes({ ...elsewhere, zen: random.below(2 ** 32) }),
        random.pick(form.otherEvents),
      );
    case 3: {
      const body = toBytes(payload);
      const path = `/webhooks/repositories/${random.pick(['whk-none', '', '%00', '..%2f', 'x'.repeat(900), '__proto__'])}`;
      return {
        ...address(hook, form.sign(body, hook.secret), form.pushEvent, random),
        kind: 'unknown',
        path,
        body,
      };
    }
    default: {
      const body = random.once(4) ? damage(payload, random) : toBytes(payload);
      const signature = forge(hook, hooks, body, random);
      return { ...address(hook, signature, form.pushEvent, random), kind: 'forged', body };
    }
  }
};
