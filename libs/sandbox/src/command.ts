/** The command line by which bubblewrap starts a program. */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';

/** A file that is elsewhere in the sandbox. */
export interface SandboxFile {
  readonly source: string;
  readonly target: string;
}

export interface SandboxOptions {
  /** Files and folders that can be read, at the same path. Those that do not exist are left out. */
  readonly readOnly: readonly string[];
  /** Files that can be read at another path. */
  readonly files?: readonly SandboxFile[];
  /** Folders that can be written to, at the same path. They may lie in folders that can be read. */
  readonly writable: readonly string[];
  readonly workingFolder: string;
  /**
   * The whole environment. No secrets: other users of the machine can read command lines. Whoever starts the command
   * gives it nothing but `PATH`, because the sandbox can read the environment of its first process.
   */
  readonly environment: Readonly<Record<string, string>>;
  /** After this time everything in the sandbox is killed. */
  readonly seconds: number;
  /** Processes and threads at the same time. */
  readonly processes: number;
  /** Size of `/tmp`, which is in memory. */
  readonly temporaryBytes: number;
  /** Size of a file. */
  readonly fileBytes: number;
  /** Memory that one process may allocate; many processes may have more together. */
  readonly processBytes: number;
  /** File of `writeSystemCallFilter`. */
  readonly systemCallFilter: string;
}

/** Folders with the programs of the system; on most systems all but the first are links into it. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'] as const;

/** The part of `/etc` that programs need, without keys, accounts, names of the network, or settings of services. */
const CONFIGURATION = [
  '/etc/alternatives',
  '/etc/ca-certificates',
  '/etc/crypto-policies',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/pki/ca-trust/extracted',
  '/etc/pki/tls/certs',
  '/etc/protocols',
  '/etc/services',
  '/etc/ssh/ssh_known_hosts',
  '/etc/ssl/cert.pem',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
] as const;

const bindSystem = (path: string): readonly string[] => {
  try {
    return lstatSync(path).isSymbolicLink()
      ? ['--symlink', readlinkSync(path), path]
      : ['--ro-bind', path, path];
  } catch {
    return [];
  }
};

const isOfSystem = (path: string): boolean =>
  SYSTEM.some((folder) => path === folder || path.startsWith(`${folder}/`));

/** The destination of a link is bound at both paths, because bubblewrap would not find it in the sandbox. */
const bindReadable = (path: string): readonly string[] => {
  try {
    const real = realpathSync(path);
    return [...new Set([real, path])].flatMap((target) =>
      isOfSystem(target) ? [] : ['--ro-bind', real, target],
    );
  } catch {
    return [];
  }
};

/** Open files of a process. */
const OPEN_FILES = 4096;
/** Descriptor at which bubblewrap reads the filter. */
const FILTER = 9;

const NAMESPACES = ['user', 'pid', 'ipc', 'uts', 'net'].map((name) => `--unshare-${name}`);

/**
 * The whole command, to be started in a process group of its own. Everything in the sandbox ends when that group is
 * killed, and not when whoever started it ends, so that the program can store what it has.
 * @param command a program at a path that the sandbox has, and its arguments
 */
export const toSandboxCommand = (
  options: SandboxOptions,
  command: readonly string[],
): readonly string[] => [
  'sh',
  '-c',
  `exec ${FILTER}< "$0" && exec "$@"`,
  options.systemCallFilter,
  'timeout',
  '--signal=KILL',
  String(options.seconds),
  'bwrap',
  ...NAMESPACES,
  '--unshare-cgroup-try',
  '--disable-userns',
  '--seccomp',
  String(FILTER),
  '--new-session',
  '--die-with-parent',
  '--hostname',
  'run',
  '--clearenv',
  '--proc',
  '/proc',
  '--dev',
  '/dev',
  ...['/dev/shm', '/tmp'].flatMap((path) => [
    '--size',
    String(options.temporaryBytes),
    '--tmpfs',
    path,
  ]),
  ...SYSTEM.flatMap(bindSystem),
  ...CONFIGURATION.flatMap(bindReadable),
  ...options.readOnly.flatMap(bindReadable),
  ...(options.files ?? []).flatMap(({ source, target }) => ['--ro-bind', source, target]),
  ...options.writable.flatMap((path) => ['--bind', path, path]),
  ...Object.entries(options.environment).flatMap(([name, value]) => ['--setenv', name, value]),
  // The memory of these two has no other limit.
  '--remount-ro',
  '/dev',
  '--remount-ro',
  '/',
  '--chdir',
  options.workingFolder,
  '--',
  // The limits are set here, because those of processes count what is in the same user namespace.
  'prlimit',
  '--core=0',
  `--nproc=${options.processes}`,
  `--fsize=${options.fileBytes}`,
  `--nofile=${OPEN_FILES}`,
  `--data=${options.processBytes}`,
  ...command,
];
