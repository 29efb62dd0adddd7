/** The SSH key of a workspace, with which modules are downloaded from repositories. */
import { rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const hasName = (): boolean => {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
};

/** A text as one word of a shell. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const toOptions = (folder: string): readonly string[] => [
  'BatchMode=yes',
  'LogLevel=ERROR',
  'StrictHostKeyChecking=accept-new',
  `UserKnownHostsFile="${join(folder, 'ssh-known-hosts')}"`,
];

const toCommand = (args: readonly string[], options: readonly string[]): string => {
  // ssh refuses a user who has no name in the system, as the built-in runner's may be; in a user namespace it
  // is another.
  const prefix = hasName() ? [] : ['unshare', '--user', '--map-root-user', '--'];
  const named = options.flatMap((option) => ['-o', option]);
  return [...prefix, 'ssh', '-F', 'none', ...args, ...named].map(shellQuoted).join(' ');
};

// A percent sign would begin one of the names that ssh replaces.
const proxyProgram = [
  process.execPath,
  '--disable-sigusr1',
  fileURLToPath(new URL('./ssh-proxy.ts', import.meta.url)),
].map((word) => shellQuoted(word).replaceAll('%', '%%'));

/** An option of ssh: the connection is made through the proxy that `KEELSON_EGRESS_PROXY` names. */
export const PROXY_OPTION = `ProxyCommand=${proxyProgram.join(' ')} %h %p`;

/**
 * Writes a key into a folder for the program that git starts over SSH (`GIT_SSH_COMMAND`). The configuration and
 * the keys of the machine's users are not read, so that the key is the only one that is used. Hosts in
 * /etc/ssh/ssh_known_hosts must have the keys named there; others are trusted, because the hosts of modules are
 * not known beforehand.
 * @param moreOptions further ones of ssh
 */
export const prepareSsh = async (
  folder: string,
  key: string,
  moreOptions: readonly string[] = [],
): Promise<{ readonly command: string; readonly keyFile: string }> => {
  const keyFile = join(folder, 'ssh-key');
  // ssh reads no key whose last line does not end.
  await writeFile(keyFile, `${key.replaceAll('\r\n', '\n').trim()}\n`, { mode: 0o600 });
  const options = [
    ...toOptions(folder),
    'IdentitiesOnly=yes',
    'IdentityAgent=none',
    ...moreOptions,
  ];
  return { command: toCommand(['-i', keyFile], options), keyFile };
};

/**
 * Does work for which git has the key, and removes the key: the code of the run is executed later, without it.
 * @param key undefined if there is none, and git is started as the environment says
 * @param work receives the environment variables for git
 */
export const withSshKey = async <T>(
  folder: string,
  key: string | undefined,
  work: (environment: NodeJS.ProcessEnv) => Promise<T>,
): Promise<T> => {
  if (key === undefined) return work({});
  const { command, keyFile } = await prepareSsh(folder, key);
  try {
    return await work({ GIT_SSH_COMMAND: command });
  } finally {
    await rm(keyFile, { force: true });
  }
};

/** The keys of an agent, for git outside of a fetch. */
export interface SshAgent {
  readonly socket: string;
  /** The HTTP proxy through which hosts are reached; undefined if they are reached directly. */
  readonly proxyUrl: string | undefined;
}

/**
 * Environment variables with which git signs in with the keys of an agent, and no program has them.
 * @param folder for the keys of the hosts
 */
export const toAgentEnvironment = (
  folder: string,
  { socket, proxyUrl }: SshAgent,
): NodeJS.ProcessEnv => {
  const options = [
    ...toOptions(folder),
    `IdentityAgent="${socket}"`,
    'IdentityFile=none',
    ...(proxyUrl === undefined ? [] : [PROXY_OPTION]),
  ];
  return {
    GIT_SSH_COMMAND: toCommand([], options),
    ...(proxyUrl !== undefined && { KEELSON_EGRESS_PROXY: proxyUrl }),
  };
};
