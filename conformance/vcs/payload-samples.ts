/**
 * Sample payloads of webhooks as providers document them, read from the published packages that hold them:
 *
 * | provider                | samples                                        |
 * | ----------------------- | ---------------------------------------------- |
 * | GitHub, GitHub Enterprise | `@octokit/webhooks-examples`                 |
 * | GitLab                  | `gitlab.com/gitlab-org/api/client-go`, and below |
 * | Gitea, Bitbucket Cloud, Bitbucket Data Center | `github.com/go-playground/webhooks` |
 */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findBinary } from '@keelson/testkit';

/** A payload as its provider sends it, with the name of its event. */
export interface PayloadSample {
  /** Unique among the samples of a provider. */
  readonly name: string;
  /** Value of the header that names the event. */
  readonly event: string;
  /** JSON. */
  readonly body: string;
}

const GO = await findBinary('go', 'golang');

/** The folder of sample payloads in a Go module, in the version that go.mod pins. */
const folderOf = async (module: string, ...path: readonly string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(GO, ['mod', 'download', '-json', module], {
    cwd: join(import.meta.dirname, 'payloads'),
  });
  return join((JSON.parse(stdout) as { Dir: string }).Dir, 'testdata', ...path);
};

/** Members by which payloads name their event. */
interface NamedPayload {
  /** GitLab; absent in system hooks. */
  readonly object_kind?: string;
  /** Bitbucket Data Center. */
  readonly eventKey?: string;
}

/** @param eventOf the event of a file, by its name without the suffix and its content */
const readFolder = async (
  folder: string,
  eventOf: (name: string, payload: NamedPayload) => string,
): Promise<readonly PayloadSample[]> => {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json'));
  return Promise.all(
    files.toSorted().map(async (file) => {
      const name = basename(file, '.json');
      const body = await readFile(join(folder, file), 'utf8');
      return { name, body, event: eventOf(name, JSON.parse(body) as NamedPayload) };
    }),
  );
};

const PLAYGROUND = 'github.com/go-playground/webhooks/v6';

interface GitHubEvent {
  readonly name: string;
  readonly examples: readonly object[];
}

/** @param edition folder of the package, such as `api.github.com` */
const readGitHub = async (edition: string): Promise<readonly PayloadSample[]> => {
  const require = createRequire(import.meta.url);
  const folder = dirname(require.resolve('@octokit/webhooks-examples/package.json'));
  const text = await readFile(join(folder, edition, 'index.json'), 'utf8');
  return (JSON.parse(text) as readonly GitHubEvent[]).flatMap(({ name: event, examples }) =>
    // Some examples are there several times; the second delivery would be a replay.
    [...new Set(examples.map((example) => JSON.stringify(example)))].map((body, index) => ({
      name: `${event} ${index}`,
      event,
      body,
    })),
  );
};

/** Values of `X-Gitlab-Event` that do not follow from `object_kind`. */
const GITLAB_EVENTS: Readonly<Record<string, string>> = {
  build: 'Job Hook',
  access_token: 'Resource Access Token Hook',
};

const toGitLabEvent = (kind: string): string =>
  GITLAB_EVENTS[kind] ??
  `${kind
    .split('_')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(' ')} Hook`;

const readGitLab = async (): Promise<readonly PayloadSample[]> => {
  const eventOf = (_name: string, { object_kind: kind }: NamedPayload) =>
    kind === undefined ? 'System Hook' : toGitLabEvent(kind);
  const own = await folderOf('gitlab.com/gitlab-org/api/client-go', 'webhooks');
  return [
    ...(await readFolder(own, eventOf)),
    ...(await readFolder(await folderOf(PLAYGROUND, 'gitlab'), eventOf)),
  ];
};

const BITBUCKET_EVENTS: Readonly<Record<string, string>> = {
  'pull-request-approval-removed': 'pullrequest:unapproved',
  'pull-request-declined': 'pullrequest:rejected',
  'pull-request-merged': 'pullrequest:fulfilled',
  'commit-comment-created': 'repo:commit_comment_created',
};

const toBitbucketEvent = (name: string): string =>
  BITBUCKET_EVENTS[name] ??
  name.replace('pull-request', 'pullrequest').replace('-', ':').replaceAll('-', '_');

/** The samples of each kind of OAuth client. */
export const readSamples = {
  github: () => readGitHub('api.github.com'),
  github_enterprise: () => readGitHub('ghes-35'),
  gitea: async () =>
    readFolder(await folderOf(PLAYGROUND, 'gitea'), (name) =>
      name.replace(/-event$/, '').replaceAll('-', '_'),
    ),
  gitlab_hosted: readGitLab,
  bitbucket_hosted: async () =>
    readFolder(await folderOf(PLAYGROUND, 'bitbucket'), toBitbucketEvent),
  bitbucket_data_center: async () =>
    readFolder(
      await folderOf(PLAYGROUND, 'bitbucket-server'),
      (_name, payload) => payload.eventKey ?? '',
    ),
} satisfies Readonly<Record<string, () => Promise<readonly PayloadSample[]>>>;
