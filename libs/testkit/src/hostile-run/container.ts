/** An agent in its container: where its walls are not those of the sandbox. */
import { type Attempt, MACHINE, OPEN } from './attempt.ts';

/** The agent and its runs have one user and one file system, and the network is that of a container. */
const OPEN_IN_CONTAINER: readonly string[] = [
  'the notes of the runner about its own slot',
  'the next run, by a file in /tmp',
  'the next run, by a file in /var/tmp',
  'the next run, by a file in /dev/shm',
  'other users, by a setuid program',
  'the environment of other processes',
  'the memory of the control plane',
  'the memory map of the control plane',
  'the working folder of the control plane',
  'the open files of the control plane',
  'the program of the control plane',
  'that other processes exist',
  'the control plane as a debugger (PTRACE_ATTACH)',
  'the control plane as a debugger (PTRACE_SEIZE)',
  'the time after its phase, by a session of its own',
  'the time after its phase, by a process that ignores signals and has closed everything',
  'the time after its phase, by a process without its first thread or name',
  'the time after its phase, by a process that ends all others first',
  'the metadata service of Alibaba',
  'link-local addresses of IPv4, from each of its own addresses',
  'a private network (10/8)',
  'a private network (172.16/12)',
  'a private network (192.168/16)',
  'a network of a provider (100.64/10)',
  'networks for benchmarks (198.18/15)',
  'the machine by its own address',
  'the machine by the gateway of its network',
  'the connections of the machine',
  'the SSH key of the workspace in the memory of the process that executes the run',
  'the SSH key of the workspace in the memory of any process',
];

const HELD_OTHERWISE: Readonly<Record<string, string>> = {
  // Newer engines filter them.
  'the asynchronous interface of the kernel (io_uring)': MACHINE,
  'the machine that runs this virtual machine (vsock)': MACHINE,
  'the metadata service of a cloud': 'link-local addresses of its own',
  'the metadata service of a cloud, mapped into IPv6': 'link-local addresses of its own',
  'link-local addresses of IPv4': 'link-local addresses of its own',
  'the metadata of containers': 'link-local addresses of its own',
  'all other processes of its user (kill -9 -1)': 'first process of its namespace',
};

/** All names above. */
export const NAMED_FOR_CONTAINER: readonly string[] = [
  ...OPEN_IN_CONTAINER,
  ...Object.keys(HELD_OTHERWISE),
];

/** The attempt with what holds it in the container. */
export const inContainer = (attempt: Attempt): Attempt => {
  const { name, walls } = attempt;
  const container = OPEN_IN_CONTAINER.includes(name)
    ? OPEN
    : (HELD_OTHERWISE[name] ?? walls.container);
  return { ...attempt, walls: { ...walls, container } };
};
