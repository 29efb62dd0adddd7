/**
 * The filter of system calls of a sandbox, as a program for the kernel (seccomp, classic BPF). It refuses interfaces
 * of the kernel that runs do not need and in which privileges have been gained before; what capabilities would be
 * needed for is refused anyway.
 */
import { join } from 'node:path';
import { writeReadable } from './readable-file.ts';

interface Machine {
  /** `AUDIT_ARCH_…` of linux/audit.h. */
  readonly architecture: number;
  /** Numbers of the refused calls, from asm/unistd.h. */
  readonly refused: Readonly<Record<string, number>>;
  readonly socket: number;
  readonly ioctl: number;
  /** Numbers from here on belong to another ABI of the same machine. */
  readonly end: number;
}

const SHARED = { io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427 } as const;

const MACHINES: Readonly<Record<string, Machine>> = {
  x64: {
    architecture: 0xc000003e,
    refused: {
      ...SHARED,
      acct: 163,
      add_key: 248,
      bpf: 321,
      delete_module: 176,
      finit_module: 313,
      init_module: 175,
      // Watches are counted by user, also of those outside of the sandbox.
      inotify_init: 253,
      inotify_init1: 294,
      ioperm: 173,
      iopl: 172,
      kcmp: 312,
      kexec_file_load: 320,
      kexec_load: 246,
      keyctl: 250,
      lookup_dcookie: 212,
      modify_ldt: 154,
      open_by_handle_at: 304,
      perf_event_open: 298,
      personality: 135,
      quotactl: 179,
      request_key: 249,
      syslog: 103,
      userfaultfd: 323,
      vmsplice: 278,
    },
    socket: 41,
    ioctl: 16,
    end: 0x40000000,
  },
  arm64: {
    architecture: 0xc00000b7,
    refused: {
      ...SHARED,
      acct: 89,
      add_key: 217,
      bpf: 280,
      delete_module: 106,
      finit_module: 273,
      init_module: 105,
      inotify_init1: 26,
      kcmp: 272,
      kexec_file_load: 294,
      kexec_load: 104,
      keyctl: 219,
      lookup_dcookie: 18,
      open_by_handle_at: 265,
      perf_event_open: 241,
      personality: 92,
      quotactl: 60,
      request_key: 218,
      syslog: 116,
      userfaultfd: 282,
      vmsplice: 75,
    },
    socket: 198,
    ioctl: 29,
    end: 0x40000000,
  },
};

/** Unix, IPv4, IPv6 and netlink, by which programs list their interfaces. */
const ADDRESS_FAMILIES = [1, 2, 10, 16] as const;
/** TIOCSTI and TIOCLINUX type into a terminal. */
const TERMINAL_INPUT = [0x5412, 0x541c] as const;

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** Offsets in `struct seccomp_data`; arguments are 64 bits wide, their lower half comes first. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number): number => 16 + 8 * index;

interface Instruction {
  readonly code: number;
  readonly isTrue?: number;
  readonly isFalse?: number;
  readonly value: number;
}

const load = (offset: number): Instruction => ({ code: 0x20, value: offset });
const ALLOW: Instruction = { code: 0x06, value: 0x7fff0000 };
const refuse = (reason: number): Instruction => ({ code: 0x06, value: 0x00050000 + reason });

/** The rest is skipped unless the loaded value is this one. */
const ifEqual = (value: number, then: readonly Instruction[]): readonly Instruction[] => [
  { code: 0x15, value, isFalse: then.length },
  ...then,
];

/** Skips what follows if the loaded value is this one or larger. */
const ifBelow = (value: number, then: readonly Instruction[]): readonly Instruction[] => [
  { code: 0x35, value, isTrue: then.length },
  ...then,
];

const toInstructions = (machine: Machine): readonly Instruction[] => [
  load(ARCHITECTURE),
  ...ifEqual(machine.architecture, [
    load(NUMBER),
    ...ifBelow(machine.end, [
      ...Object.values(machine.refused).flatMap((number) => ifEqual(number, [refuse(EPERM)])),
      ...ifEqual(machine.socket, [
        load(argument(0)),
        ...ADDRESS_FAMILIES.flatMap((family) => ifEqual(family, [ALLOW])),
        refuse(EAFNOSUPPORT),
      ]),
      ...ifEqual(machine.ioctl, [
        load(argument(1)),
        ...TERMINAL_INPUT.flatMap((request) => ifEqual(request, [refuse(EPERM)])),
      ]),
      ALLOW,
    ]),
  ]),
  // Another ABI, whose numbers mean other calls.
  refuse(ENOSYS),
];

/** @returns `struct sock_filter[]`; undefined for a machine whose numbers are not known here */
export const toFilter = (machineName: string): Buffer | undefined => {
  const machine = MACHINES[machineName];
  if (machine === undefined) return undefined;
  const instructions = toInstructions(machine);
  const filter = Buffer.alloc(instructions.length * 8);
  for (const [index, { code, isTrue = 0, isFalse = 0, value }] of instructions.entries()) {
    filter.writeUInt16LE(code, index * 8);
    filter.writeUInt8(isTrue, index * 8 + 2);
    filter.writeUInt8(isFalse, index * 8 + 3);
    filter.writeUInt32LE(value, index * 8 + 4);
  }
  return filter;
};

/**
 * @param folder gets the file, and is not one that the sandbox can write to
 * @returns the file, for `SandboxOptions`
 * @throws Error on a machine whose calls are not known here
 */
export const writeSystemCallFilter = async (folder: string): Promise<string> => {
  const filter = toFilter(process.arch);
  if (filter === undefined)
    throw new Error(`no filter of system calls is known for ${process.arch}`);
  const file = join(folder, 'system-calls.bpf');
  await writeReadable(file, filter);
  return file;
};
