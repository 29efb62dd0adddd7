/** An installation whose built-in runner executes the published provider, and its secrets API. */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildGoTool } from '@keelson/testkit';
import { type Installation, install } from '../terraform/terraform-cli.ts';

const NAME = 'terraform-provider-vault';
const ADDRESS = 'registry.terraform.io/hashicorp/vault';
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** A mirror with the provider, which the users of runs can read. @returns the CLI configuration that names it */
const makeMirror = async (folder: string): Promise<string> => {
  const program = await buildGoTool(import.meta.dirname, NAME);
  const goMod = await readFile(join(import.meta.dirname, 'go.mod'), 'utf8');
  const version = new RegExp(`hashicorp/${NAME} v(\\S+)`).exec(goMod)?.[1] ?? '';
  const platform = `${process.platform}_${ARCHITECTURES[process.arch] ?? process.arch}`;
  const place = join(folder, ADDRESS, version, platform);
  await mkdir(place, { recursive: true });
  await copyFile(program, join(place, `${NAME}_v${version}`));
  const file = join(folder, 'providers.tfrc');
  await writeFile(
    file,
    `provider_installation {\n  filesystem_mirror {\n    path = "${folder}"\n  }\n}\n`,
  );
  return file;
};

export interface RunsWithProvider {
  readonly installation: Installation;
  readonly rootToken: string;
  readonly runnerFolder: string;
  /** Calls the secrets API as root. @param namespace "" for the one that contains all */
  v1(method: string, path: string, body?: object, namespace?: string): Promise<unknown>;
  /** Accessors of the tokens of a namespace. */
  accessors(namespace?: string): Promise<ReadonlySet<string>>;
  /** Sets environment variables of a workspace. */
  setVariables(workspaceId: string, variables: Readonly<Record<string, string>>): Promise<void>;
}

/** @param settings of the installation, which is given folders for them */
export const installWithProvider = async (
  settings: (folder: Installation['folder']) => Promise<Readonly<Record<string, string>>> = () =>
    Promise.resolve({}),
): Promise<RunsWithProvider> => {
  let runnerFolder = '';
  const installation = await install(async (folder) => {
    const mirror = await folder('provider-mirror');
    runnerFolder = await folder('runner');
    return {
      KEELSON_RUNNER: 'true',
      KEELSON_RUNNER_FOLDER: runnerFolder,
      KEELSON_RUNNER_CLI_CONFIG_FILE: await makeMirror(mirror),
      KEELSON_RUNNER_READABLE_PATHS: mirror,
      ...(await settings(folder)),
    };
  });
  const firstRun = await readFile(join(installation.dataFolder, 'first-run.json'), 'utf8');
  const rootToken = (JSON.parse(firstRun) as { readonly root_token: string }).root_token;
  const v1: RunsWithProvider['v1'] = async (method, path, body, namespace = '') => {
    const response = await fetch(`${installation.http}/v1/${path}`, {
      method,
      headers: {
        'x-service-token': rootToken,
        ...(namespace !== '' && { 'x-service-namespace': namespace }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok && response.status !== 404) throw new Error(`${path}: ${text}`);
    return text === '' ? {} : JSON.parse(text);
  };
  return {
    installation,
    rootToken,
    runnerFolder,
    v1,
    accessors: async (namespace) => {
      const answer = await v1('LIST', 'auth/token/accessors', undefined, namespace);
      const { data } = answer as { readonly data?: { readonly keys: readonly string[] } };
      return new Set(data?.keys);
    },
    setVariables: async (workspaceId, variables) => {
      for (const [key, value] of Object.entries(variables)) {
        const data = { type: 'vars', attributes: { key, value, category: 'env' } };
        const path = `/workspaces/${workspaceId}/vars`;
        const { status, document } = await installation.call('POST', path, { data });
        if (status !== 201) throw new Error(`${key}: ${JSON.stringify(document)}`);
      }
    },
  };
};

/** Makes an authority at a path of the namespace, and a role `web` for names below example.com. */
export const makeAuthority = async (
  { v1 }: Pick<RunsWithProvider, 'v1'>,
  path: string,
  namespace = '',
): Promise<void> => {
  await v1('POST', `sys/mounts/${path}`, { type: 'pki' }, namespace);
  const root = { common_name: `Root of ${path}`, ttl: '720h' };
  await v1('POST', `${path}/root/generate/internal`, root, namespace);
  const role = { allowed_domains: 'example.com', allow_subdomains: true, ttl: '24h' };
  await v1('POST', `${path}/roles/web`, role, namespace);
};

interface CertificateState {
  readonly resources: readonly {
    readonly name: string;
    readonly instances: readonly { readonly attributes: { readonly certificate: string } }[];
  }[];
}

/** The certificates in the state of a workspace, by the names of their resources. */
export const certificatesOf = async (
  { call }: Pick<Installation, 'call'>,
  workspaceId: string,
): Promise<Readonly<Record<string, string>>> => {
  const current = await call('GET', `/workspaces/${workspaceId}/current-state-version`);
  const state = await fetch(String(current.data.attributes['hosted-state-download-url']));
  const { resources } = (await state.json()) as CertificateState;
  return Object.fromEntries(
    resources.map(({ name, instances }) => [name, instances[0]?.attributes.certificate ?? '']),
  );
};
