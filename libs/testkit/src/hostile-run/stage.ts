/** Where attempts are made: what they could reach, seen from outside of the run. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Texts that stand for secrets; each is known in one place only. */
export interface Secrets {
  /** In the environment of the control plane and of another process. */
  readonly environment: string;
  /** A variable of a run of another organization. */
  readonly variable: string;
  /** On the command line of another process. */
  readonly argument: string;
  /** In a file of a run of another organization. */
  readonly file: string;
  /** In shared memory of System V. */
  readonly shared: string;
  /** In shared memory of POSIX. */
  readonly posix: string;
  /** SHA-256 of the base64 text of the SSH key. */
  readonly keyDigest: string;
}

/** A process that does nothing but wait for a signal. */
export interface Canary {
  readonly pid: number;
  /** Whether it has ended, or was stopped. */
  readonly isTouched: () => boolean;
}

export interface Stage {
  /** Folder of everything below. */
  readonly root: string;
  readonly data: string;
  readonly runner: string;
  /** Home folder of the user who started the control plane. */
  readonly operator: string;
  /** Folder of the tool's program. */
  readonly tools: string;
  /** Compiled code of the control plane. */
  readonly cache: string;
  readonly secrets: Secrets;
  readonly canaries: Readonly<Partial<Record<string, Canary>>>;
  /** A process of the user of the control plane. */
  readonly other: number;
  /** Folder that shows the file system of the next run, without what its sandbox has of its own. */
  readonly nextRun: () => string;
  /** Whether the control plane and its processes are there. */
  readonly isAlive: () => boolean;
  /** Whether the control plane stores what a user of another organization asks for. */
  readonly canWrite: () => Promise<boolean>;
  /** Whether it stores a file of some megabytes within a time that is allowed after the disk was full. */
  readonly storesAgain: () => Promise<boolean>;
  /** Whether another run is executed. */
  readonly canRun: () => Promise<boolean>;
  /** Whether the user of the control plane can still watch files. */
  readonly canWatch: () => boolean;
  /** Status of an answer of the control plane to a token. */
  readonly answerTo: (method: string, path: string, token: string) => Promise<number>;
  /** The states that were stored by a run. */
  readonly stored: (runId: string, workspaceId: string) => Promise<string>;
  /** Whether the log of a run is served as plain text. */
  readonly isPlainLog: (runId: string) => Promise<boolean>;
  /** Connections to a socket of the stage. */
  readonly connections: (socket: string) => number;
  /** Connections to ports of the stage that began with these words. */
  readonly greetings: (words: string) => number;
  readonly datagrams: () => number;
  /** Messages in queues of System V. */
  readonly queued: () => number;
  /** Whether somebody has accepted a connection to the port. */
  readonly hasAccepted: (port: number) => boolean;
}

/** The text of a file; "" if there is none. */
export const contentIn = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

/** Paths below a folder, links not followed; those of folders that are too deep are left out. */
export const pathsBelow = (folder: string, levels = 100): readonly string[] => {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      const isOpened = entry.isDirectory() && levels > 1;
      return isOpened ? [path, ...pathsBelow(path, levels - 1)] : [path];
    });
  } catch {
    return [];
  }
};

/** The processes of the stage that have a text in their command lines. */
export const processesWith = (text: string): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && contentIn(`/proc/${name}/cmdline`).includes(text))
    .map(Number);

/** Whether a process exists and has neither ended nor been stopped. */
export const isAtWork = (pid: number): boolean => {
  const state = /\) (\w)/.exec(contentIn(`/proc/${pid}/stat`))?.[1];
  return state !== undefined && !'TtZX'.includes(state);
};

/** Ports on which a process listens, except those given. */
export const listeningPorts = (pid: number): readonly number[] => {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [/^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? ''];
      } catch {
        return [];
      }
    }),
  );
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) =>
    contentIn(table)
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((columns) => columns[3] === '0A' && inodes.has(columns[9] ?? ''))
      .map((columns) => Number.parseInt(columns[1]?.split(':')[1] ?? '', 16)),
  );
};
