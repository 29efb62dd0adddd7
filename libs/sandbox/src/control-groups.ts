/**
 * Control groups of Linux (version 2). All processes of a run together have limits, and end together.
 *
 * They are made below the group of this process, if no other process is in it, as in a service of systemd
 * (`Delegate=memory pids`): the processes of others may not be moved, and a group with processes cannot limit its
 * children.
 */
import { on } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const CONTROLLERS = ['memory', 'pids'] as const;
/** The group of this process, once it has made others. */
const OWN = 'control-plane';

export interface ControlGroupLimits {
  /** Memory of all processes together, with what they have in memory file systems. */
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly processes: number;
}

/** A group for one run. */
export interface ControlGroup {
  /** Moves a process into the group, with all that it starts from then on. @throws Error when it has ended */
  add(pid: number): Promise<void>;
  /** Whether the kernel has ended a process because the group needed more memory than it may have. */
  hasRunOutOfMemory(): Promise<boolean>;
  /** Ends every process of the group, also one that has left its process group and session, and removes the group. */
  end(): Promise<void>;
}

export interface ControlGroups {
  /** @param name unique among the groups of the process */
  create(name: string, limits: ControlGroupLimits): Promise<ControlGroup>;
}

/** The reason why the machine has no control groups for runs. */
export class ControlGroupsUnavailable extends Error {}

const findOwn = async (): Promise<string> => {
  const mounts = await readFile('/proc/self/mountinfo', 'utf8');
  const mount = mounts.split('\n').find((line) => line.includes(' - cgroup2 '));
  const groups = await readFile('/proc/self/cgroup', 'utf8');
  const path = groups.split('\n').find((line) => line.startsWith('0::'));
  const point = mount?.split(' ')[4];
  if (point === undefined || path === undefined)
    throw new ControlGroupsUnavailable('the machine has no control groups of version 2');
  return join(point, path.slice('0::'.length));
};

const parentOf = async (pid: string): Promise<string | undefined> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return /^PPid:\t(\d+)$/m.exec(status)?.[1];
};

const isOwn = async (pid: string): Promise<boolean> => {
  for (let at: string | undefined = pid; at !== undefined; at = await parentOf(at))
    if (at === String(process.pid)) return true;
  return false;
};

const processesOf = async (group: string): Promise<readonly string[]> =>
  (await readFile(join(group, 'cgroup.procs'), 'utf8')).split('\n').filter(Boolean);

/** Makes room for groups: this process and its children move to a child of their group. */
const delegate = async (group: string): Promise<void> => {
  const available = (await readFile(join(group, 'cgroup.controllers'), 'utf8')).trim().split(' ');
  const absent = CONTROLLERS.filter((name) => !available.includes(name));
  if (absent.length > 0)
    throw new ControlGroupsUnavailable(`${group} has no controller for ${absent.join(' and ')}`);
  const processes = await processesOf(group);
  const areOwn = await Promise.all(processes.map(isOwn));
  if (areOwn.includes(false))
    throw new ControlGroupsUnavailable(`processes of others are in ${group}`);
  await mkdir(join(group, OWN), { recursive: true });
  if (!existsSync(join(group, OWN, 'cgroup.kill')))
    throw new ControlGroupsUnavailable('the kernel, older than 5.14, cannot end a group');
  for (const pid of processes) await writeFile(join(group, OWN, 'cgroup.procs'), pid);
  const enabled = CONTROLLERS.map((name) => `+${name}`).join(' ');
  await writeFile(join(group, 'cgroup.subtree_control'), enabled);
};

/** Groups of runs that an earlier process has left; one in which a process goes on stays. */
const removeEmpty = async (group: string): Promise<void> => {
  const entries = await readdir(group, { withFileTypes: true });
  for (const entry of entries)
    if (entry.isDirectory() && entry.name !== OWN)
      await rmdir(join(group, entry.name)).catch(() => undefined);
};

const valueOf = (text: string, name: string): number =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1],
  );

/** The kernel reports changes of the file as those of any other. */
const awaitEmpty = async (group: string): Promise<void> => {
  const file = join(group, 'cgroup.events');
  const watcher = watch(file);
  const changes = on(watcher, 'change');
  try {
    while (valueOf(await readFile(file, 'utf8'), 'populated') > 0) await changes.next();
  } finally {
    watcher.close();
  }
};

const createGroup = async (
  group: string,
  { memoryBytes, processes }: ControlGroupLimits,
): Promise<ControlGroup> => {
  const set = (file: string, value: string | number) => writeFile(join(group, file), String(value));
  await mkdir(group);
  await set('memory.max', memoryBytes);
  // Absent where the kernel does not count swap.
  await set('memory.swap.max', 0).catch(() => undefined);
  await set('pids.max', processes);
  return {
    add: (pid) => set('cgroup.procs', pid),
    hasRunOutOfMemory: async () =>
      valueOf(await readFile(join(group, 'memory.events'), 'utf8'), 'oom_kill') > 0,
    end: async () => {
      await set('cgroup.kill', 1);
      await awaitEmpty(group);
      await rmdir(group);
    },
  };
};

/** Prepares the group of this process. @throws ControlGroupsUnavailable where it cannot have groups below it */
export const openControlGroups = async (): Promise<ControlGroups> => {
  try {
    const own = await findOwn();
    await delegate(own);
    await removeEmpty(own);
    return { create: (name, limits) => createGroup(join(own, name), limits) };
  } catch (error) {
    if (error instanceof ControlGroupsUnavailable) throw error;
    throw new ControlGroupsUnavailable(String(error), { cause: error });
  }
};
