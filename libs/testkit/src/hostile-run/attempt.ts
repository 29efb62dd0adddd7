/** An attempt of a run's code to reach what is not its own, and the walls that hold it. */
import type { Stage } from './stage.ts';

/**
 * The forms of an installation whose built-in runner is tried:
 * - `root`: started by root, runs are in the sandbox and have user ids of their own
 * - `user`: started by an ordinary user, runs are in the sandbox
 * - `unsafe-root`: started by root without the sandbox, runs have user ids of their own
 * - `unsafe-user`: started by an ordinary user without the sandbox, runs have the user of the control plane
 * - `unsafe-shared`: the same as root, so that the kernel holds nothing; it shows that the attempts work
 * - `container`: runs are executed by an agent in its container, without the sandbox
 */
export const FORMS = [
  'root',
  'user',
  'unsafe-root',
  'unsafe-user',
  'unsafe-shared',
  'container',
] as const;
export type Form = (typeof FORMS)[number];

/** That the attempt reaches what it wants. */
export const OPEN = 'not held';

/** That the settings of the machine decide, so that it is not compared. */
export const MACHINE = 'as the machine is set';

/** That the form has nothing to reach, such as another run at the same time. */
export const ABSENT = 'absent';

/** The wall that holds an attempt in each form, or OPEN, or ABSENT. */
export type Walls = Readonly<Record<Form, string>>;

/** The moment in which the program of an attempt runs. */
export type Moment =
  /** With others in one plan. */
  | 'together'
  /** In a plan of its own. */
  | 'plan'
  /** In an apply of its own. */
  | 'apply'
  /** While the tool downloads modules with the SSH key of the workspace, in a run of its own. */
  | 'init';

export interface Attempt {
  /** Completes "a run tries to reach". */
  readonly name: string;
  readonly area: Area;
  readonly walls: Walls;
  readonly moment: Moment;
  /** For /bin/sh; a line REACHED says that it got where it wanted, unless `isReached` looks from outside. */
  readonly program: string;
  /** Commands of the shell that print the documents of the tool instead of empty ones. */
  readonly documents?: Readonly<Partial<Record<Document, string>>>;
  /** Environment variables of the workspace. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Looks from outside once the program has said this, and then cancels the run; otherwise after the run. */
  readonly during?: string;
  /** Looks from outside. */
  readonly isReached?: (stage: Stage, tried: Tried) => Promise<boolean> | boolean;
}

/** Status of a run that has not ended long after its time limit. */
export const HANGING = 'hanging';

/** A document that the runner reads from the tool. */
export type Document = 'version' | 'plan' | 'schema' | 'state';

/** A run after it has ended. */
export interface Tried {
  readonly runId: string;
  readonly workspaceId: string;
  readonly status: string;
  /** Output of the attempt's program. */
  readonly said: string;
  /** The whole log. */
  readonly log: string;
}

export type Area =
  | 'files of the installation'
  | 'files left behind'
  | 'other processes'
  | 'privileges'
  | 'interfaces of the kernel'
  | 'sockets and shared memory'
  | 'network'
  | 'secrets'
  | 'exhaustion'
  | 'what the runner reads';

/** Where the wall of the container has another name than that of the sandbox. */
const OF_CONTAINER: Readonly<Record<string, string>> = {
  'mount namespace': 'file system of the container',
  'private temporary folders': 'file system of the container',
  'limits of the sandbox': 'limits of the container',
  seccomp: 'seccomp of the engine',
};

/** The same wall in both forms with the sandbox; that of the container follows from it. */
export const walls = (
  sandboxed: string,
  unsafeRoot: string,
  unsafeUser: string,
  unsafeShared: string = OPEN,
): Walls => ({
  root: sandboxed,
  user: sandboxed,
  'unsafe-root': unsafeRoot,
  'unsafe-user': unsafeUser,
  'unsafe-shared': unsafeShared,
  container: unsafeUser === ABSENT ? ABSENT : (OF_CONTAINER[sandboxed] ?? sandboxed),
});

/** The same wall in every form, which does not depend on where runs are executed. */
export const everywhere = (wall: string): Walls => walls(wall, wall, wall, wall);
