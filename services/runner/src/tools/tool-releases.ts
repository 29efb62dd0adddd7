/** The releases of provisioning tools on this machine: in PATH, and as zip files in a folder. */
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { Owner } from '@keelson/agent';

const run = promisify(execFile);

export const TOOL_NAMES = ['terraform', 'tofu'] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

export interface ToolRelease {
  readonly name: ToolName;
  /** "1.11.4". */
  readonly version: string;
  readonly kind: 'program' | 'zip';
  /** The program in PATH, or the zip file. */
  readonly file: string;
}

export interface ToolPlaces {
  /** The value of the environment variable PATH. */
  readonly path: string;
  readonly folder: string | undefined;
  /** The only tool to offer; undefined means both. */
  readonly only: ToolName | undefined;
  /** Whether another release is used where the requested one is absent. */
  readonly acceptsOther: boolean;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };
/** "terraform_1.11.4_linux_amd64.zip". */
const ZIP =
  /^(terraform|tofu)_(\d{1,5}\.\d{1,5}\.\d{1,5}(?:-[0-9A-Za-z.-]{1,40})?)_([a-z0-9]+_[a-z0-9]+)\.zip$/;
const PLATFORM = `${process.platform}_${ARCHITECTURES[process.arch] ?? process.arch}`;

const VERSION_WITHIN_MS = 60_000;

/** Versions of programs by path, size and time of change, because running a program takes a moment. */
const known = new Map<string, Promise<string | undefined>>();

/** @param owner OS user that runs `version`: the runner must not execute the tool as itself */
const askVersion = async (file: string, owner: Owner): Promise<string | undefined> => {
  const { stdout } = await run(file, ['version', '-json'], {
    env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', CHECKPOINT_DISABLE: '1' },
    cwd: '/',
    timeout: VERSION_WITHIN_MS,
    ...owner,
  });
  const { terraform_version: version } = JSON.parse(stdout) as { terraform_version?: string };
  return version;
};

const findProgram = async (
  name: ToolName,
  path: string,
  owner: Owner,
): Promise<ToolRelease | undefined> => {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, name);
    const isProgram =
      folder !== '' &&
      (await access(file, constants.X_OK).then(
        () => true,
        () => false,
      ));
    if (!isProgram) continue;
    const { size, mtimeMs } = await stat(file);
    const key = `${file} ${size} ${mtimeMs}`;
    const asked = known.get(key) ?? askVersion(file, owner).catch(() => undefined);
    known.set(key, asked);
    const version = await asked;
    return version === undefined ? undefined : { name, version, kind: 'program', file };
  }
  return undefined;
};

const listZips = async (folder: string): Promise<readonly ToolRelease[]> => {
  // A missing folder is reported when a version cannot be found.
  const names = await readdir(folder).catch(() => []);
  return names.flatMap((file): ToolRelease[] => {
    const [, name, version, platform] = ZIP.exec(file) ?? [];
    const tool = TOOL_NAMES.find((one) => one === name);
    return tool === undefined || version === undefined || platform !== PLATFORM
      ? []
      : [{ name: tool, version, kind: 'zip', file: join(folder, file) }];
  });
};

/** The available releases, in order of preference: terraform first, and programs before zip files. */
export const listReleases = async (
  { path, folder, only }: ToolPlaces,
  owner: Owner,
): Promise<readonly ToolRelease[]> => {
  const zips = folder === undefined ? [] : await listZips(folder);
  const found: ToolRelease[] = [];
  for (const name of TOOL_NAMES) {
    if (only !== undefined && only !== name) continue;
    const program = await findProgram(name, path, owner);
    if (program !== undefined) found.push(program);
    found.push(...zips.filter((zip) => zip.name === name));
  }
  return found;
};

/** The reason why a phase has no tool: the requested version, and the places searched. */
export const explainMissing = (
  constraint: string,
  { path, folder, only }: ToolPlaces,
  releases: readonly ToolRelease[],
): string => {
  const names = only ?? TOOL_NAMES.join(' or ');
  const present = (kind: ToolRelease['kind']): string =>
    releases
      .filter((release) => release.kind === kind)
      .map(({ name, version }) => `${name} ${version}`)
      .join(', ') || `no ${names}`;
  const inFolder =
    folder === undefined
      ? 'No folder with zip files is set (KEELSON_RUNNER_TOOLS_FOLDER).'
      : `The folder ${folder} (KEELSON_RUNNER_TOOLS_FOLDER) has ${present('zip')}.`;
  return `The built-in runner has no ${names} for the terraform-version "${constraint}" of the workspace. PATH (${path}) has ${present('program')}. ${inFolder} Change the terraform-version of the workspace, have the release added to the folder, or have another release accepted (KEELSON_RUNNER_OTHER_RELEASE).`;
};
